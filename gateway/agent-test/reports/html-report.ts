import { escapeHtml } from '../../core/web/escape-html.ts'
import type { AnsweredResult, CallSound, TestedCall } from '../calls/tested-call.ts'
import type { AgentTestResult } from '../run-agent-test.ts'
import { quantile } from '../scores/quantile.ts'
import { secondsText } from '../seconds-text.ts'
import { stereoWav } from '../sound/stereo-wav.ts'
import { element } from './element.ts'
import { pageStyle } from './page-style.ts'
import { endText, kindNames, scoreRows, targetText } from './score-rows.ts'
import { shortText, wordsText } from './text-report.ts'
import { waveformSvg } from './waveform.ts'

/** Longest sound that the page contains, in bytes of a WAV file: about four minutes. */
const maxSoundBytes = 8 << 20

/** Script of the page: a time in a table plays the sound from there. */
const script = `for(const b of document.querySelectorAll('button[data-at]'))b.addEventListener('click',()=>{
const a=document.querySelector('audio');if(a){a.currentTime=Number(b.dataset.at);a.play()}})`

/** Returns the report as one HTML page without references to other files. */
export const htmlReport = (result: AgentTestResult): string => {
  const { scenario, shown } = result
  const { answered } = shown.call
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(scenario.name)} – agent test</title>`,
    `<style>${pageStyle}</style>`,
    '</head>',
    '<body>',
    '<main>',
    ...heading(result),
    ...section('Expectations', expectationsTable(result)),
    ...section('Scores', scoresTable(result)),
    ...(answered ? callSection(shown.call, answered, shown.sound) : []),
    ...(result.calls.length > 1 ? section('All calls', callsTable(result.calls)) : []),
    '</main>',
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

const heading = ({ scenario, hasPassed, calls, startedAt }: AgentTestResult): readonly string[] => {
  const target = element('code', {}, escapeHtml(targetText(scenario.target)))
  const time = startedAt.toISOString().slice(0, 19).replace('T', ' ')
  return [
    element('h1', {}, escapeHtml(scenario.name)),
    element('p', { class: hasPassed ? 'good' : 'bad' }, hasPassed ? 'Passed' : 'Failed'),
    element(
      'p',
      { class: 'soft' },
      `${calls.length} ${calls.length === 1 ? 'call' : 'calls'} to ${target}, ${time} UTC`,
    ),
  ]
}

const section = (title: string, content: string): readonly string[] => [`<h2>${title}</h2>`, content]

interface Column {
  readonly title: string
  /** Class of its cells. `wide` columns are missing on a narrow screen. */
  readonly kind?: 'number' | 'number wide' | 'wide' | 'words'
}

/** Returns a table whose cells are HTML. It scrolls sideways on a narrow screen. */
const tableOf = (label: string, columns: readonly Column[], rows: readonly (readonly string[])[]): string => {
  const classOf = ({ kind }: Column): string => (kind ? ` class="${kind}"` : '')
  const head = columns.map((column) => `<th scope="col"${classOf(column)}>${column.title}</th>`).join('')
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell, at) => `<td${classOf(columns[at]!)}>${cell}</td>`).join('')}</tr>`,
  )
  const table = `<table><thead><tr>${head}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table>`
  return scrolling(label, table)
}

const expectationsTable = ({ checks }: AgentTestResult): string =>
  tableOf(
    'Expectations',
    [{ title: 'Result' }, { title: 'Expectation' }, { title: 'Failures', kind: 'words' }],
    checks.map(({ name, hasPassed, failures }) => [
      `<span class="${hasPassed ? 'good' : 'bad'}">${hasPassed ? 'met' : 'not met'}</span>`,
      escapeHtml(name),
      failures.length === 0 ? '–' : listOf(failures),
    ]),
  )

const listOf = (texts: readonly string[]): string =>
  `<ul>${texts.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>`

const scoresTable = ({ summary }: AgentTestResult): string =>
  tableOf(
    'Scores',
    [{ title: 'Score' }, { title: 'Value' }, { title: 'Meaning', kind: 'wide' }],
    scoreRows(summary).map(({ name, value, meaning }) => [name, escapeHtml(value), meaning]),
  )

const callSection = (
  { number }: TestedCall,
  answered: AnsweredResult,
  sound: CallSound,
): readonly string[] => {
  const { scores, endedBy, functions, summary, packets, lateMs } = answered
  const wav = stereoWav(sound.caller, sound.agent)
  const facts = [
    `${secondsText(scores.ms)}, ${endText(endedBy)}`,
    `${packets.received} packets of the agent, ${packets.lost} lost`,
    `packets of the caller at most ${lateMs} ms late`,
  ]
  return [
    `<h2>Call ${number}</h2>`,
    `<p class="soft">${facts.join('; ')}.</p>`,
    scrolling('Waveform', waveformSvg(sound, answered)),
    wav.length <= maxSoundBytes
      ? element('audio', { controls: '', preload: 'metadata', 'aria-label': soundLabel, src: dataUri(wav) })
      : '<p class="soft">The sound is too long for this page. The option <code>--wav</code> writes it.</p>',
    ...(summary === undefined ? [] : [`<p>Summary of the agent: ${escapeHtml(summary)}</p>`]),
    ...section('Turns', turnsTable(answered)),
    ...(functions.length > 0 ? section('Functions', functionsTable(answered)) : []),
  ]
}

const soundLabel = 'Sound of the call: the caller is left, the agent is right'

const dataUri = (wav: Buffer): string => `data:audio/wav;base64,${wav.toString('base64')}`

/** Returns markup that scrolls sideways on a narrow screen, also by the keyboard. */
const scrolling = (label: string, content: string): string =>
  element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, content)

const timeButton = (ms: number): string => {
  const text = secondsText(ms)
  const attributes = { type: 'button', 'data-at': (ms / 1000).toFixed(2), 'aria-label': `Play from ${text}` }
  return element('button', attributes, text)
}

const resumeText = (ms: number | undefined): string => {
  if (ms === undefined) return 'did not go on'
  return ms === 0 ? 'went on' : `went on ${ms} ms after it`
}

const turnsTable = ({ transcript, scores }: AnsweredResult): string => {
  const remark = (fromMs: number): string => {
    const turn = scores.turns.find((each) => each.fromMs === fromMs)
    const yielded = scores.yields.find((each) => each.fromMs === fromMs)
    const kept = scores.keeps.find((each) => each.fromMs === fromMs)
    const texts = [
      turn && (turn.gapMs === undefined ? 'no answer' : `answer after ${turn.gapMs} ms`),
      turn?.isEarly ? 'the agent began before its end' : undefined,
      yielded && (yielded.silenceMs === undefined ? 'not yielded' : `silent after ${yielded.silenceMs} ms`),
      yielded?.fadeMs === undefined ? undefined : `20 dB less after ${yielded.fadeMs} ms`,
      kept && resumeText(kept.resumeMs),
    ]
    return texts.filter((text) => text !== undefined).join('; ') || '–'
  }
  return tableOf(
    'Turns',
    [
      { title: 'From', kind: 'number' },
      { title: 'To', kind: 'number wide' },
      { title: 'Side' },
      { title: 'Words', kind: 'words' },
      { title: 'Score', kind: 'words' },
    ],
    transcript.map((line) => [
      timeButton(line.fromMs),
      secondsText(line.toMs),
      line.who === 'agent' ? 'agent' : `caller, ${kindNames[line.kind]}`,
      escapeHtml(wordsText(line)),
      line.who === 'caller' ? remark(line.fromMs) : '–',
    ]),
  )
}

const functionsTable = ({ functions }: AnsweredResult): string =>
  tableOf(
    'Functions',
    [
      { title: 'Time', kind: 'number' },
      { title: 'Function' },
      { title: 'Arguments' },
      { title: 'Result', kind: 'words' },
    ],
    functions.map(({ name, args, result, atMs, durationMs }) => [
      `${timeButton(atMs)}${durationMs === undefined ? '' : ` ${durationMs} ms`}`,
      `<code>${escapeHtml(name)}</code>`,
      `<code>${escapeHtml(JSON.stringify(args))}</code>`,
      escapeHtml(shortText(result)),
    ]),
  )

const callsTable = (calls: readonly TestedCall[]): string =>
  tableOf(
    'All calls',
    [
      { title: 'Call', kind: 'number' },
      { title: 'Duration', kind: 'number' },
      { title: 'Ended by' },
      { title: 'Turns answered', kind: 'number' },
      { title: 'Median gap', kind: 'number' },
      { title: 'Problems', kind: 'words' },
    ],
    calls.map(({ number, problems, answered }) => {
      const turns = answered?.scores.turns ?? []
      const gaps = turns.flatMap(({ gapMs }) => gapMs ?? [])
      return [
        String(number),
        answered ? secondsText(answered.scores.ms) : '–',
        answered ? answered.endedBy : 'not answered',
        `${gaps.length} of ${turns.length}`,
        gaps.length > 0 ? `${quantile(gaps, 0.5)} ms` : '–',
        problems.length > 0 ? listOf(problems) : '–',
      ]
    }),
  )
