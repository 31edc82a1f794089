import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { type LogCall, logCalls, mayLog, propertyOf } from '../check/log-calls.ts'
import { isSyntaxNode, type SyntaxNode, unwrap } from '../check/syntax-tree.ts'
import { isServerSource, trackedPaths } from '../check/words.ts'
import { eventActions } from './event-actions.ts'

/** One event that the server logs, from all calls that log it. */
export interface LoggedEvent {
  readonly key: string
  readonly levels: readonly string[]
  readonly messages: readonly string[]
  /** Names of fields; a field that only some calls have is among them. */
  readonly fields: readonly string[]
}

const root = join(import.meta.dirname, '..', '..')

/** Texts that an expression can be, with `…` for values; empty if the source does not show them. */
const textsOf = (node: SyntaxNode | undefined): readonly string[] => {
  if (node === undefined) return []
  const inner = unwrap(node)
  if (inner.type === 'Literal') return [String(inner.value)]
  if (inner.type === 'ConditionalExpression')
    return [...textsOf(inner.consequent as SyntaxNode), ...textsOf(inner.alternate as SyntaxNode)]
  if (inner.type === 'TemplateLiteral')
    return [
      (inner.quasis as readonly SyntaxNode[])
        .map(({ value }) => (value as Record<string, string>).cooked)
        .join('…'),
    ]
  return []
}

/** Message of a call; the text of the code where the catalogue has it. */
const messagesOf = ({ message }: LogCall, source: string): readonly string[] => {
  if (message === undefined) return []
  const isOfCatalogue = /^catalogue\b/.test(source.slice(message.start, message.end))
  return isOfCatalogue ? ['*the meaning of `code`*'] : textsOf(message)
}

/** Names of the fields of an object literal, with those of literals inside `...(condition && { … })`. */
const fieldsOf = (object: SyntaxNode): readonly string[] =>
  (object.properties as readonly SyntaxNode[]).flatMap((property) => {
    if (property.type === 'SpreadElement') {
      const spread = unwrap(property.argument as SyntaxNode)
      const literal = unwrap((spread.right ?? spread) as SyntaxNode)
      return literal.type === 'ObjectExpression' ? fieldsOf(literal) : []
    }
    const { name, value } = property.key as SyntaxNode
    return property.computed ? [] : [String(name ?? value)]
  })

/** Returns the events that a source logs, one entry for each call and key. */
export const eventsIn = (path: string, source: string): readonly LoggedEvent[] => {
  const program = parseSync(path, source).program as unknown as SyntaxNode
  return logCalls(program).flatMap((call) =>
    call.fields.flatMap((object) => {
      const event = propertyOf(object, 'event')
      const fields = fieldsOf(object).filter((name) => name !== 'event')
      return (isSyntaxNode(event) ? textsOf(event) : []).map((key) => ({
        key,
        levels: [call.level ?? 'by code'],
        messages: messagesOf(call, source),
        fields,
      }))
    }),
  )
}

const distinct = (lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())]

/** Returns all events of the server, each once, in the order of their keys. */
export const loggedEvents = (): readonly LoggedEvent[] => {
  const calls = trackedPaths()
    .filter(isServerSource)
    .flatMap((path) => {
      const source = readFileSync(join(root, path), 'utf8')
      return mayLog(source) ? eventsIn(path, source) : []
    })
  return [...Map.groupBy(calls, ({ key }) => key)]
    .map(([key, same]) => ({
      key,
      levels: distinct(same.map(({ levels }) => levels)),
      messages: distinct(same.map(({ messages }) => messages)).toSorted(),
      fields: distinct(same.map(({ fields }) => fields)).toSorted(),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const section = (area: string, events: readonly LoggedEvent[]): readonly string[] => [
  `## ${area}`,
  '',
  row(['Event', 'Level', 'Message', 'Fields', 'Action']),
  row(['---', '---', '---', '---', '---']),
  ...events.map(({ key, levels, messages, fields }) =>
    row([
      `\`${key}\``,
      levels.join(', '),
      messages.join(' / '),
      fields.map((name) => `\`${name}\``).join(', '),
      eventActions[key] ?? '',
    ]),
  ),
  '',
]

/** Returns the page of log events, from the calls of the logger in the source. */
export const eventsPage = (): string => {
  const areas = Map.groupBy(loggedEvents(), ({ key }) => key.slice(0, key.indexOf('.')))
  return [
    '# Log events',
    '',
    'Log lines at `info` and above have a field `event` with a stable key. Alerts can rely on it;',
    'messages may be reworded. [Operations](operations.md) describes the format of a line.',
    '',
    '- `error` and `fatal`: something failed that the gateway needs. Act on it.',
    '- `warn`: a call, a request or a setting was rejected or degraded. Watch the rate.',
    '- `info`: normal operation. No action.',
    '- *by code*: the level is that of the field `code` in the [table of codes](errors.md).',
    '',
    'Lines about a call also have `call` and `leg`. *Fields* lists those that the event adds;',
    'a field is missing if it does not apply.',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    ...[...areas].flatMap(([area, events]) => section(area, events)),
  ].join('\n')
}
