import type { AnsweredResult } from '../calls/tested-call.ts'
import type { Share, Summary, Times } from '../scores/summary.ts'
import { secondsText } from '../seconds-text.ts'

/** Row of the scores: the name, the value and an explanation. */
export interface ScoreRow {
  readonly name: string
  readonly value: string
  readonly meaning: string
}

/** Returns the scores of a test as rows of text. A score without a case is a dash. */
export const scoreRows = (summary: Summary): readonly ScoreRow[] => {
  const { echo, levelDb } = summary
  return [
    row('Response', shareText(summary.response), 'turns that were answered'),
    row('Gap', timesText(summary.gap), 'from the end of a turn to the voice of the agent'),
    row('Early', String(summary.early), 'turns in which the agent began to speak'),
    row('Yield', shareText(summary.yield), 'interruptions that silenced the agent within 2 s'),
    row('Fade', timesText(summary.fade), 'from the begin of an interruption to 20 dB less'),
    row('Silence', timesText(summary.silence), 'from the begin of an interruption to silence'),
    row('Selectivity', shareText(summary.selectivity), 'acknowledgements and coughs after which it went on'),
    row('Resume', timesText(summary.resume), 'from the end of such a sound to the voice of the agent'),
    row(
      'Echo',
      echo ? `${echo.stops} stops in ${secondsText(echo.spokenMs)}` : '–',
      'stops of the agent under its own echo',
    ),
    row('Not scored', String(summary.unscored), 'sounds over the agent at which it did not speak'),
    row('Overlap', secondsText(summary.overlapMs), 'both spoke'),
    row(
      'No sound',
      `${Math.round(100 * summary.silenceShare)} %`,
      'share of the time in which neither spoke',
    ),
    row('Longest gap', secondsText(summary.longestGapMs), 'longest time in which neither spoke'),
    row('Level', levelDb === undefined ? '–' : `${levelDb.toFixed(0)} dBov`, 'median level of the agent'),
  ]
}

const row = (name: string, value: string, meaning: string): ScoreRow => ({ name, value, meaning })

const shareText = ({ good, of }: Share): string =>
  of === 0 ? '–' : `${good} of ${of} (${Math.round((100 * good) / of)} %)`

const timesText = (times: Times | undefined): string =>
  times ? `p50 ${times.p50} ms, p95 ${times.p95} ms, max ${times.max} ms` : '–'

/** Returns how a call ended. */
export const endText = (endedBy: AnsweredResult['endedBy']): string =>
  endedBy === 'limit' ? 'ended at the longest duration' : `ended by the ${endedBy}`

/** Names of the kinds of sounds, as a person reads them. */
export const kindNames = {
  turn: 'turn',
  keys: 'keys',
  interruption: 'interruption',
  acknowledgement: 'acknowledgement',
  cough: 'cough',
  speech: 'speech',
} as const

/** Returns the address or the file of the agent under test. */
export const targetText = (
  target:
    | { readonly kind: 'address'; readonly uri: string }
    | { readonly kind: 'document'; readonly file: string },
): string => (target.kind === 'address' ? target.uri : target.file)
