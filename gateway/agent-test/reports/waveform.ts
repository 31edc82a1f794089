import { escapeHtml } from '../../core/web/escape-html.ts'
import type { FunctionCall } from '../calls/call-report.ts'
import type { TranscriptLine } from '../calls/call-transcript.ts'
import type { AnsweredResult, CallSound } from '../calls/tested-call.ts'
import { rate } from '../scores/activity.ts'
import { secondsText } from '../seconds-text.ts'
import { element } from './element.ts'
import { kindNames } from './score-rows.ts'

const minWidth = 1116
const pixelsPerSecond = 32
const maxWidth = 24_000
/** Heights of a channel, of the row of functions and of the axis, in pixels. */
const lane = 84
const functionsHeight = 22
const axisHeight = 22
/** Left edge of the sound, in pixels. */
const left = 64
/** Room that a label needs to the right of its place, in pixels. */
const labelWidth = 120
/** Width of one bar of a waveform, in pixels. */
const bar = 2
/** Id of the title, which is the text alternative. */
const titleId = 'wave-title'

/** Scale of a drawing. */
interface Scale {
  readonly width: number
  /** Returns the place of a time in ms, in pixels with one digit after the point. */
  readonly x: (ms: number) => number
}

const tenth = (value: number): number => Math.round(10 * value) / 10

/**
 * Returns a call as SVG: the two channels with the turns, the gaps before answers, and the functions. Its
 * title is a text alternative; the table of turns has the same content.
 */
export const waveformSvg = (sound: CallSound, answered: AnsweredResult): string => {
  const { scores, transcript, functions } = answered
  const ms = Math.max(1000, scores.ms)
  const wanted = left + (ms / 1000) * pixelsPerSecond
  const width = Math.round(Math.min(maxWidth, Math.max(minWidth, wanted)))
  const scale: Scale = { width, x: (at) => tenth(left + ((width - left) * at) / ms) }
  const height = 2 * lane + functionsHeight + axisHeight
  const content = [
    element('title', { id: titleId }, escapeHtml(titleOf(answered))),
    ...channel('caller', transcript, sound.caller, scale),
    ...channel('agent', transcript, sound.agent, scale),
    ...gapLines(answered, scale),
    ...functions.map((call) => functionMark(call, scale)),
    ...axis(scores.ms, height, scale),
  ]
  const box = { width, height, viewBox: `0 0 ${width} ${height}` }
  return element('svg', { role: 'img', 'aria-labelledby': titleId, ...box }, `\n${content.join('\n')}\n`)
}

const titleOf = ({ scores, transcript }: AnsweredResult): string => {
  const count = (who: 'caller' | 'agent'): number => transcript.filter((line) => line.who === who).length
  return (
    `Waveform of the call, ${secondsText(scores.ms)}: ${count('caller')} sounds of the caller above, ` +
    `${count('agent')} of the agent below. The table of turns has the times.`
  )
}

const channel = (
  who: 'caller' | 'agent',
  transcript: readonly TranscriptLine[],
  samples: Int16Array,
  scale: Scale,
): readonly string[] => {
  const top = who === 'caller' ? 0 : lane
  const middle = top + lane / 2
  return [
    element('text', { class: 'name', x: 4, y: middle + 4 }, who === 'caller' ? 'Caller' : 'Agent'),
    element('line', { class: 'mid', x1: left, x2: scale.width, y1: middle, y2: middle }),
    ...transcript.filter((line) => line.who === who).map((line) => turnRect(line, top, scale)),
    element('path', { class: who, d: wavePath(samples, middle, scale) }),
  ]
}

const turnRect = ({ kind, text, fromMs, toMs }: TranscriptLine, top: number, { x }: Scale): string => {
  const times = `${secondsText(fromMs)} to ${secondsText(toMs)}`
  const hint = `${kindNames[kind]}, ${times}${text ? `: ${text}` : ''}`
  const width = Math.max(2, tenth(x(toMs) - x(fromMs)))
  const box = { x: x(fromMs), y: top + 3, width, height: lane - 6, rx: 3 }
  return element('rect', { class: `turn ${kind}`, ...box }, element('title', {}, escapeHtml(hint)))
}

/** Returns the peaks of samples as bars around a middle line. */
const wavePath = (samples: Int16Array, middle: number, { width, x }: Scale): string => {
  const bars = Math.floor((width - left) / bar)
  const ms = ((samples.length / rate) * 1000) / bars
  const parts: string[] = []
  for (let index = 0; index < bars; index++) {
    const from = Math.floor((index * samples.length) / bars)
    const to = Math.floor(((index + 1) * samples.length) / bars)
    let peak = 0
    for (let at = from; at < to; at++) peak = Math.max(peak, Math.abs(samples[at]!))
    // The square root shows quiet sounds, too.
    const half = Math.round(Math.sqrt(peak / 32_768) * (lane / 2 - 6))
    if (half > 1) parts.push(`M${x((index + 0.5) * ms)} ${middle - half}v${2 * half}`)
  }
  return parts.join('')
}

const gapLines = ({ scores }: AnsweredResult, scale: Scale): readonly string[] =>
  scores.turns.flatMap(({ toMs, gapMs }) => {
    if (gapMs === undefined || gapMs <= 0) return []
    const end = scale.x(toMs + gapMs)
    return [
      element('line', { class: 'gap', x1: scale.x(toMs), x2: end, y1: lane, y2: lane }),
      element('text', { class: 'gap-text', ...placed(end + 3, scale), y: lane + 12 }, `${gapMs} ms`),
    ]
  })

/** Returns the place of a text, which ends there if it could reach beyond the right edge. */
const placed = (x: number, { width }: Scale) =>
  x > width - labelWidth ? { 'text-anchor': 'end', x: x - 6 } : { x }

const functionMark = ({ name, atMs }: FunctionCall, scale: Scale): string => {
  const x = scale.x(atMs)
  const mark =
    element('line', { x1: x, x2: x, y1: 0, y2: 2 * lane + 4 }) +
    element('text', { ...placed(x, scale), y: 2 * lane + 16 }, escapeHtml(name))
  return element('g', { class: 'function' }, mark)
}

const axis = (ms: number, height: number, { x, width }: Scale): readonly string[] => {
  const step = [1, 2, 5, 10, 30, 60].find((each) => x(each * 1000) - x(0) >= 56) ?? 120
  const marks = Array.from({ length: Math.floor(ms / 1000 / step) + 1 }, (_, index) => index * step)
  const y = height - axisHeight
  return [
    element('line', { class: 'mid', x1: left, x2: width, y1: y, y2: y }),
    ...marks.map((second) =>
      element('text', { class: 'axis', x: x(second * 1000), y: height - 6 }, `${second} s`),
    ),
  ]
}
