"""Do torch and torchvision work together? Run by the Makefile once, after installing."""

import argparse
import sys


def main() -> int:
    """Import both and use one of torchvision's compiled operators."""
    import torch

    try:
        import torchvision

        torchvision.ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
    except (ImportError, RuntimeError) as error:
        print(
            f"torch {torch.__version__} and the installed torchvision do not work together:\n    {error}\n"
            "Their builds differ (often a CPU build of torch beside a CUDA build of torchvision). Mend it with\n"
            '    python -m pip install --upgrade --force-reinstall "torch>=2.9,!=2.13.0" "torchvision>=0.24,!=0.28.0"',
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    sys.exit(main())
