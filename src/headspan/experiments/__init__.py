"""Experiments: grids of trainings and their report, corpora, error analysis, speed."""
