"""What the course needs beside `ponder_utils`: experiments and their stored runs, verdicts, figures, notebooks."""
