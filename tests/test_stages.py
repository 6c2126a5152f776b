import time

from headspan.plumbing.stages import stage, timed


def test_time_inside_counts_for_the_inner_stage() -> None:
    with timed() as watch:
        with stage("outer"):
            with stage("inner"):
                time.sleep(0.05)
            with stage("inner"):
                time.sleep(0.05)
        time.sleep(0.05)
    assert watch.seconds["inner"] >= 0.1
    assert watch.seconds["outer"] < 0.05
    assert set(watch.seconds) == {"inner", "outer"}


def test_stages_are_not_timed_unless_asked() -> None:
    with stage("a"), timed() as watch:
        pass
    with stage("b"):
        pass
    assert watch.seconds == {}


def test_asynchronous_work_counts_for_the_stage_that_began_it() -> None:
    asked: list[float] = []

    def settle() -> None:
        time.sleep(sum(asked))
        asked.clear()

    with timed(settle) as watch:
        with stage("first"):
            asked.append(0.05)
        with stage("second"):
            pass
    assert watch.seconds["first"] >= 0.05
    assert watch.seconds["second"] < 0.05
