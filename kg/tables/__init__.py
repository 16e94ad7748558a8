"""Reads tables (CSV, TSV, Parquet) as graphs: of triples, or of anything with a mapping beside them."""
