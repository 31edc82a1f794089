import type { TranscriptLine } from '../calls/call-transcript.ts'
import type { AnsweredResult, TestedCall } from '../calls/tested-call.ts'
import type { AgentTestResult } from '../run-agent-test.ts'
import { secondsText } from '../seconds-text.ts'
import { endText, kindNames, scoreRows, targetText } from './score-rows.ts'

/** Returns rows as lines with aligned columns. */
export type Table = (rows: readonly (readonly string[])[]) => readonly string[]

/** Returns the report for a terminal. `table` aligns rows and escapes control characters. */
export const textReport = (result: AgentTestResult, table: Table): string => {
  const { scenario, checks, summary, calls, shown, hasPassed } = result
  const rejected = calls.filter(({ answered }) => !answered).length
  const count = `${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`
  const blocks = [
    [
      ...table([[`${scenario.name}: ${hasPassed ? 'passed' : 'FAILED'}`]]),
      ...table([
        [`${count} to ${targetText(scenario.target)}${rejected > 0 ? `, ${rejected} not answered` : ''}`],
      ]),
    ],
    [
      'Scores',
      ...indented(table(scoreRows(summary).map(({ name, value, meaning }) => [name, value, meaning]))),
    ],
    ...(shown.call.answered ? [callLines(shown.call, shown.call.answered, table)] : []),
    [
      'Expectations',
      ...checks.flatMap(({ name, hasPassed: isGood, failures }) => [
        ...indented(table([[isGood ? 'ok  ' : 'FAIL', name]])),
        ...failures.slice(0, maxFailures).flatMap((failure) => indented(indented(table([['', failure]])))),
        ...(failures.length > maxFailures ? [`        and ${failures.length - maxFailures} more`] : []),
      ]),
    ],
  ]
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

/** Maximum number of failures that are listed for an expectation. */
const maxFailures = 10

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`)

const callLines = ({ number }: TestedCall, answered: AnsweredResult, table: Table): readonly string[] => {
  const { transcript, functions, summary, endedBy, scores, packets, lateMs, hasReport } = answered
  const called = functions.map(({ name, args, result, atMs }) => ({
    atMs,
    row: [secondsText(atMs), 'function', `${name} ${JSON.stringify(args)} → ${shortText(result)}`],
  }))
  const said = transcript.map((line) => ({
    atMs: line.fromMs,
    row: [secondsText(line.fromMs), speakerOf(line), wordsText(line)],
  }))
  const lost = packets.lost > 0 ? `, ${packets.lost} packets of the agent lost` : ''
  const unreported = hasReport ? '' : ', without a report of the agent'
  return [
    `Call ${number}: ${secondsText(scores.ms)}, ${endText(endedBy)}${lost}${unreported}`,
    ...indented(table([...called, ...said].sort((a, b) => a.atMs - b.atMs).map(({ row }) => row))),
    ...(summary === undefined ? [] : indented(table([['Summary:', summary]]))),
    ...(lateMs > maxLateMs
      ? [`  This machine was busy: packets of the caller were up to ${lateMs} ms late.`]
      : []),
  ]
}

/** Delay of the caller's packets from which the report warns, in ms. */
const maxLateMs = 40

const speakerOf = ({ who, kind }: TranscriptLine): string =>
  who === 'agent' ? 'agent' : kind === 'turn' ? 'caller' : `caller, ${kindNames[kind]}`

/** Returns the words of a line with its remarks. */
export const wordsText = ({ text, understood, isInterrupted, isContinued }: TranscriptLine): string =>
  [
    text ?? (isContinued ? '(goes on)' : '(speech)'),
    ...(isInterrupted ? ['(interrupted)'] : []),
    ...(understood === undefined ? [] : [`(understood: ${understood})`]),
  ].join(' ')

/** Returns a value as JSON, or a text as it is, cut after 200 characters. */
export const shortText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
