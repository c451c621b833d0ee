// What a search finds first: Sphinx's own scores, but the pages of modules after all others.
var Scorer = {
  score: ([page, , , , score]) => (page.startsWith("api/") ? score / 100 : score),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
