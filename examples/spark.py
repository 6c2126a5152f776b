"""Parse documents with Spark: from a table with `id` and `text` to a table of sentences.

    spark-submit examples/spark.py documents.parquet sentences.parquet [MODEL]

headspan[parquet] must be installed where Spark's workers run. Each task loads the model once and
parses its rows in batches.
"""

import sys
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from headspan.integrations.arrow import parse_batches, schema


def main(documents: str, sentences: str, model: str = "en") -> None:
    """Read, parse and write, all in Spark's tasks."""
    spark = SparkSession.builder.appName("headspan").getOrCreate()
    table = spark.read.parquet(documents).select("id", "text")
    parsed = table.mapInArrow(partial(parse_batches, model=model), from_arrow_schema(schema()))
    parsed.write.parquet(sentences)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
