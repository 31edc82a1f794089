/** Maximum length of the names that are compared, in characters: the time grows with its square. */
const maxLength = 64

/**
 * Returns the candidate that is most similar to a misspelt name; undefined if none is similar. Upper and
 * lower case do not differ. A candidate is similar if a third of its letters, and at least one, may be wrong.
 */
export const closest = (name: string, candidates: Iterable<string>): string | undefined => {
  const misspelt = name.slice(0, maxLength).toLowerCase()
  let best: { readonly candidate: string; readonly rank: number } | undefined
  for (const candidate of candidates) {
    const longer = Math.abs(candidate.length - misspelt.length)
    if (longer > maxSteps(candidate)) continue
    const steps = distance(misspelt, candidate.toLowerCase())
    // Of two similar names, one of the same length is more probable: `paly` is `play`, and not `pay`.
    const rank = steps + longer / 100
    if (steps <= maxSteps(candidate) && rank < (best?.rank ?? Number.POSITIVE_INFINITY))
      best = { candidate, rank }
  }
  return best?.candidate
}

/** Returns a sentence with a leading blank, such as " Did you mean `play`?"; empty if nothing is similar. */
export const didYouMean = (name: string, candidates: Iterable<string>): string => {
  const near = closest(name, candidates)
  return near === undefined ? '' : ` Did you mean \`${near}\`?`
}

/** Returns the permitted distance to a candidate. A name of one letter is similar to itself alone. */
const maxSteps = ({ length }: string): number =>
  length > maxLength ? -1 : Math.min(length - 1, Math.max(1, Math.floor(length / 3)))

/**
 * Returns the distance of Damerau and Levenshtein (optimal string alignment). It counts letters to insert,
 * delete or exchange, and swaps of two neighbours.
 */
const distance = (a: string, b: string): number => {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const exchange = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(exchange, swap, at(row, j) + 1, at(next, j - 1) + 1))
    }
    before = row
    row = next
  }
  return at(row, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? 0
