/** Piece of prose: a comment, or a paragraph of a page. */
export interface Passage {
  /** Line of its first word. */
  readonly line: number
  readonly text: string
  /** Offsets in the text at which its lines start. */
  readonly starts: readonly number[]
}

/** Returns the line of an offset in the text of a passage. */
export const lineInPassage = ({ line, starts }: Passage, offset: number): number =>
  line + starts.findLastIndex((start) => start <= offset)

/** Maximum number of words in a sentence. */
export const maxSentenceWords = 25

/** Openings that turn a doc comment into a subordinate clause instead of a noun phrase or a verb. */
const bannedOpening =
  /^(?:(?:about|after|at|before|beside|by|during|for|from|in|of|on|since|through|to|under|until|upon|with|without) )?(?:what|who|whom|whose|where|how|why|which|whatever|whoever|wherever)\b|^(?:that|told|asked)\b/i

/** Returns the opening of a doc comment if the rules ban it. */
export const bannedOpeningOf = (text: string): string | undefined => bannedOpening.exec(text.trim())?.[0]

/** Words that are banned in comments, messages and names of tests alike. */
const bannedEverywhere = [
  'somebody',
  'someone',
  'nobody',
  'no one',
  'whoever',
  'whomever',
  'anybody',
  'anyone',
  'everybody',
  'everyone',
  'whom',
  'told',
  '(?:is|are|was|were|am) to be',
  'can(?:not)? be had',
  'could(?: not|n.t)? be had',
  '(?:comes?|came) to nothing',
  'there (?:is|are|was|were) none',
  '(?:is|are|be|have|has) had again',
]

/** Words that are banned in comments only: they are parts of addresses and names of languages elsewhere. */
const bannedInComments = ['we', 'us', 'our', 'ours', 'ourselves']

const pattern = (words: readonly string[]): RegExp => {
  const spaced = words.map((word) => word.replaceAll(' ', '\\s+'))
  return new RegExp(`(?<![\\w.:/@$#-])(?:${spaced.join('|')})(?![\\w@-]|\\.\\w)`, 'gi')
}

const everywhere = pattern(bannedEverywhere)
const inProse = pattern([...bannedEverywhere, ...bannedInComments])

/** Returns the banned words of a text with their offsets. `us` after a number is a unit. */
export const bannedWordsIn = (
  text: string,
  where: 'prose' | 'code',
): readonly { readonly word: string; readonly offset: number }[] =>
  [...text.matchAll(where === 'prose' ? inProse : everywhere)]
    .filter(([word]) => word !== 'US')
    .filter(
      ({ 0: word, index }) => word !== 'us' || !/\d\s?$/.test(text.slice(Math.max(0, index - 3), index)),
    )
    .map(({ 0: word, index }) => ({ word: word.replace(/\s+/g, ' ').toLowerCase(), offset: index }))

const abbreviation = /\b(?:e\.g|i\.e|etc|vs|cf|Sec|sec|No|approx|resp)\.$/

/** Replaces code, links, addresses and quotations by one word each, since they are not prose. */
const withoutCode = (text: string): string =>
  text
    .replace(/`[^`]*`/g, 'code')
    .replace(/\{@\w+ [^}]*\}/g, 'code')
    .replace(/\]\([^)\s]*\)/g, ']')
    .replace(/\b(?:https?|wss?|sips?|tel):\S+/g, 'code')
    .replace(/"[^"]*"|“[^”]*”/g, 'quotation')

/** Returns the sentences of a text longer than {@link maxSentenceWords}, each with its number of words. */
export const longSentencesIn = (
  text: string,
): readonly { readonly words: number; readonly text: string }[] => {
  const sentences: string[] = []
  let sentence = ''
  for (const word of withoutCode(text).split(/\s+/)) {
    sentence += sentence === '' ? word : ` ${word}`
    if (/[.!?]["')\]*_]*$/.test(word) && !abbreviation.test(word)) {
      sentences.push(sentence)
      sentence = ''
    }
  }
  if (sentence !== '') sentences.push(sentence)
  return sentences
    .map((one) => ({ words: one.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length, text: one }))
    .filter(({ words }) => words > maxSentenceWords)
}

/** Whether a line shows a diagram, a table or code: it belongs to no sentence. */
const isDrawing = (line: string): boolean => /\S {3,}\S|[│┌└├─═]|--+>|<--+|^\s{4,}\S/.test(line)

const isBreak = (line: string): boolean => line.trim() === '' || /^\s*(?:@\w+|#+ |>|---)/.test(line)

/** Splits lines into paragraphs and items of lists; code, drawings and blank lines part them. */
export const passagesIn = (lines: readonly string[], firstLine: number): readonly Passage[] => {
  const passages: (Passage & { text: string; starts: number[] })[] = []
  let open: (typeof passages)[number] | undefined
  let isFenced = false
  for (const [index, line] of lines.entries()) {
    if (/^\s*```/.test(line)) isFenced = !isFenced
    if (isFenced || /^\s*```/.test(line) || isDrawing(line) || line.trim() === '') {
      open = undefined
      continue
    }
    const isItem = /^\s*(?:[-*+•]|\d+[.)])\s/.test(line)
    const text = line.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, '').trim()
    if (open && !isItem && !isBreak(line)) {
      open.starts.push(open.text.length + 1)
      open.text += ` ${text}`
    } else {
      open = { line: firstLine + index, text: text.replace(/^@\w+\s*/, ''), starts: [0] }
      passages.push(open)
      if (/^\s*#+ /.test(line)) open = undefined
    }
  }
  return passages
}

/** Lines of a page in Markdown, with tables and indented code blanked. */
export const markdownLines = (source: string): readonly string[] =>
  source.split('\n').map((line) => (/^(?:\|| {4})/.test(line) ? '' : line))

/** Returns the cells of the tables of a page in Markdown, each as a passage of its line. */
export const tableCells = (source: string): readonly Passage[] =>
  source.split('\n').flatMap((line, index) => {
    if (!line.startsWith('|') || /^[|\s:-]+$/.test(line)) return []
    return line
      .split(/(?<!\\)\|/)
      .filter((cell) => cell.trim() !== '')
      .map((cell) => ({ line: index + 1, text: withoutLists(cell.trim()), starts: [0] }))
  })

/** Replaces a list of names in code by one name: a list of the keys of an object is no long sentence. */
const withoutLists = (cell: string): string =>
  cell.replace(/`[^`]*`(?:(?:,| and| or|, and|, or)\s`[^`]*`)+/g, '`…`')

/** Returns the sentences of a text that open with a pronoun and are no question. */
export const vagueOpeningsIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?:^|[.!:]\s)((?:Whoever|Whomever|Whom|Whose|Who|Whatever|What|That)\s[^.!?]*)(.|$)/g)]
    .filter(([, , end]) => end !== '?')
    .map(([, sentence = '']) => sentence)

/** Returns the heads of tables that have a cell without a text, which screen readers cannot announce. */
export const emptyHeadersIn = (
  source: string,
): readonly { readonly line: number; readonly text: string }[] => {
  const lines = source.split('\n')
  return lines.flatMap((text, index) =>
    /^\|[ :|-]+\|$/.test(lines[index + 1] ?? '') && /^\|(?:.*\|)? *\|/.test(text)
      ? [{ line: index + 1, text }]
      : [],
  )
}
