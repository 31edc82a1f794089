import type { Span } from '../scores/activity.ts'
import type { CallerSound } from '../scores/call-scores.ts'
import type { SpokenEntry } from './call-report.ts'

/** Line of a transcript, in ms from the answer. */
export interface TranscriptLine {
  readonly who: 'caller' | 'agent'
  /** Kind of a caller's sound; `speech` for the agent. */
  readonly kind: CallerSound['kind'] | 'speech'
  /** Words; undefined if no report had them. */
  readonly text?: string
  readonly fromMs: number
  readonly toMs: number
  /** Words that the agent understood, if the report has others. */
  readonly understood?: string
  readonly isInterrupted?: true
  /** The agent goes on with the words of the line before it. */
  readonly isContinued?: true
}

/** Maximum distance between the begin of a turn in the report and that of the sound, in ms. */
const toleranceMs = 1500

/**
 * Returns the lines of a call in the order of time. The caller has the words of the scenario, and the agent
 * those of its report.
 */
export const transcriptOf = (
  sounds: readonly CallerSound[],
  agentSpans: readonly Span[],
  report: readonly SpokenEntry[],
): readonly TranscriptLine[] => {
  const agent = report.filter(({ who, atMs }) => who === 'agent' && atMs !== undefined)
  const lines = [
    ...sounds.map((sound) => callerLine(sound, report)),
    ...splitSpans(agentSpans, agent).map(agentLine),
  ]
  return lines.sort((a, b) => a.fromMs - b.fromMs).map(continued)
}

const agentLine = ({ entry, fromMs, toMs }: SpokenSpan): TranscriptLine => ({
  who: 'agent',
  kind: 'speech',
  fromMs,
  toMs,
  ...(entry && { text: entry.text }),
  ...(entry?.isInterrupted && { isInterrupted: true }),
})

/** Marks a line of the agent without words that follows one with words, and no turn of the caller. */
const continued = (line: TranscriptLine, index: number, lines: readonly TranscriptLine[]): TranscriptLine => {
  if (line.who === 'caller' || line.text !== undefined) return line
  const isEvent = ({ who, kind, text }: TranscriptLine): boolean =>
    who === 'caller' ? kind !== 'cough' && kind !== 'acknowledgement' : text !== undefined
  const last = lines.slice(0, index).findLast(isEvent)
  return last?.who === 'agent' ? { ...line, isContinued: true } : line
}

const callerLine = (
  { kind, text, fromMs, toMs }: CallerSound,
  report: readonly SpokenEntry[],
): TranscriptLine => {
  const distance = ({ atMs = Number.POSITIVE_INFINITY }: SpokenEntry): number => Math.abs(atMs - fromMs)
  const [heard] = report
    .filter((entry) => entry.who === 'caller' && distance(entry) <= toleranceMs)
    .sort((a, b) => distance(a) - distance(b))
  if (kind !== 'turn' && kind !== 'interruption') return { who: 'caller', kind, text, fromMs, toMs }
  const isOther = heard !== undefined && wordsOf(heard.text) !== wordsOf(text)
  return { who: 'caller', kind, text, fromMs, toMs, ...(isOther && { understood: heard.text }) }
}

/** Returns a text without capital letters, punctuation and repeated blanks. */
export const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}'’]/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()

interface SpokenSpan extends Span {
  readonly entry?: SpokenEntry
}

/** Splits the spans of the agent's voice where the report says that another answer begins. */
const splitSpans = (spans: readonly Span[], entries: readonly SpokenEntry[]): readonly SpokenSpan[] => {
  const left = [...entries].sort((a, b) => a.atMs! - b.atMs!)
  const found: SpokenSpan[] = []
  for (const { fromMs, toMs } of spans) {
    const own: SpokenEntry[] = []
    while (left[0] && left[0].atMs! < toMs) own.push(left.shift()!)
    if (own.length === 0) found.push({ fromMs, toMs })
    for (const [index, entry] of own.entries()) {
      const next = own[index + 1]
      const begin = index === 0 ? fromMs : Math.max(fromMs, entry.atMs!)
      found.push({ fromMs: begin, toMs: next ? Math.max(begin, Math.min(toMs, next.atMs!)) : toMs, entry })
    }
  }
  // The transcript has answers without sound, too: the caller did not hear them.
  return [...found, ...left.map((entry) => ({ fromMs: entry.atMs!, toMs: entry.atMs!, entry }))]
}
