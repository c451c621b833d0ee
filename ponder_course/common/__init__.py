"""What every lesson needs: stored runs, what several say together, the style of figures, checks of notebooks."""
