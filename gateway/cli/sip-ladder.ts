import { escapedText } from '../core/readable-log.ts'
import type { MessageBody, TraceBody } from '../operator/call-trace.ts'

/** Name of the column of the gateway. */
const gateway = 'Trunkline'
/** Minimum distance of two columns. */
const minWidth = 28
/** Width of the time at the start of a line. */
const timeWidth = 14

/** Returns a trace as lines for a person: the ladder, then the messages. */
export const traceLines = (
  { call, messages }: TraceBody,
  { withMessages }: { readonly withMessages: boolean },
): readonly string[] => {
  const title = call ? [escapedText(`Call ${call.id}: ${call.from} → ${call.to}`), ''] : []
  if (messages.length === 0)
    return [...title, 'No SIP messages in memory: the call has no SIP leg, or newer messages replaced them.']
  return [...title, ...ladder(messages), ...(withMessages ? messages.flatMap(messageLines) : [])]
}

/** Returns the ladder: the first peer at the left, the gateway beside it, then all other peers. */
const ladder = (messages: readonly MessageBody[]): readonly string[] => {
  const [first = '', ...others] = new Set(messages.map(({ remote }) => remote))
  const columns = [first, gateway, ...others]
  const width = Math.max(minWidth, ...columns.map((name) => name.length + 4))
  const placeOf = (at: number) => timeWidth + Math.floor(width / 2) + at * width
  const heading = columns.map((name) => centred(name, width)).join('')
  return [
    `${' '.repeat(timeWidth)}${heading}`.trimEnd(),
    ...messages.map((message) => {
      const peer = placeOf(columns.indexOf(message.remote))
      const own = placeOf(1)
      const [from, to] = message.direction === 'received' ? [peer, own] : [own, peer]
      const cells = Array.from({ length: placeOf(columns.length - 1) + 1 }, () => ' ')
      for (let at = 0; at < columns.length; at++) cells[placeOf(at)] = '│'
      drawArrow(cells, { from, to }, ` ${shortLabel(message)} `)
      return `${clockTime(message.at).padEnd(timeWidth)}${cells.slice(timeWidth).join('')}`
    }),
    '',
  ]
}

const drawArrow = (
  cells: string[],
  { from, to }: { readonly from: number; readonly to: number },
  label: string,
): void => {
  const left = Math.min(from, to) + 1
  const right = Math.max(from, to) - 1
  for (let at = left; at <= right; at++) if (cells[at] !== '│') cells[at] = '─'
  const text = label.slice(0, right - left - 1)
  const start = left + Math.floor((right - left + 1 - text.length) / 2)
  for (const [at, character] of [...text].entries()) cells[start + at] = character
  cells[to > from ? right : left] = to > from ? '▶' : '◀'
}

/** Returns the method of a request, or the status of a response with the method that it answers. */
const shortLabel = ({ text }: MessageBody): string => {
  const [start = ''] = text.split(/\r?\n/, 1)
  const status = /^SIP\/2\.0 (\d{3}) ?([^\r\n]*)/.exec(start)
  if (!status) return escapedText(start.split(' ', 1)[0] ?? '')
  const method = /^CSeq[ \t]*:[ \t]*\d+[ \t]+(\w+)/im.exec(text)?.[1]
  return escapedText(`${status[1]} ${status[2]}${method === undefined ? '' : ` (${method})`}`)
}

const messageLines = ({ at, direction, transport, local, remote, text }: MessageBody): readonly string[] => {
  const ends = direction === 'received' ? `from ${remote} at ${local}` : `to ${remote} from ${local}`
  return [
    `${clockTime(at)}  ${direction} ${ends} over ${transport}`,
    ...text
      .trimEnd()
      .split(/\r?\n/)
      .map((line) => `    ${escapedText(line)}`.trimEnd()),
    '',
  ]
}

const centred = (text: string, width: number): string => {
  const before = Math.floor((width - text.length) / 2)
  return `${' '.repeat(Math.max(0, before))}${text}`.padEnd(width)
}

/** Returns the time of day in UTC with milliseconds. */
const clockTime = (iso: string): string => iso.slice(11, 23)
