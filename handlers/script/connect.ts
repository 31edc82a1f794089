import { readCodecs } from '../common/codecs.ts'
import { destinationKinds, readDestination } from '../common/destinations.ts'
import { percentDecode, readHeader } from '../common/headers.ts'
import type { ConnectOptions, Destination, Header } from '../verbs.ts'
import type { Values } from './values.ts'
import { badValue } from './values.ts'
import { asText } from './variables.ts'

/** The options of `connect`, from its parameters. What a destination does not say, the method's own parameters say. */
export const connectOptions = (values: Values): ConnectOptions => {
  const timeoutMs = values.seconds('timeout')
  const maxDurationMs = values.seconds('max_duration')
  return {
    steps: stepsOf(values).map((step) => step.map((item) => destinationOf(item, values))),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    answerOnBridge: values.boolean('answer_on_bridge') ?? false,
    ...(values.has('ringback') && { ringback: values.sounds('ringback') }),
  }
}

/** Lists one after the other; those in a list together. */
const stepsOf = (values: Values): readonly (readonly Values[])[] => {
  const nested = (items: unknown) => (items as readonly unknown[]).map((item) => values.nested(item))
  if (values.has('serial')) return nested(values.list('serial')).map((item) => [item])
  if (values.has('parallel')) return [nested(values.list('parallel'))]
  if (values.has('serial_parallel')) return values.list('serial_parallel').map(nested)
  return [[values]]
}

const destinationOf = (own: Values, common: Values): Destination => {
  const to = readDestination(own.text('to') ?? '')
  if (to === undefined) throw badValue('to', `must be ${destinationKinds}`)
  const either = (name: string) => own.text(name) ?? common.text(name)
  const from = either('from')
  const fromName = either('from_name')
  const username = either('username')
  const password = either('password')
  const codecs = readCodecs(either('codecs') ?? '')
  const headers = headersOf(own.has('headers') ? own : common)
  const timeoutMs = own === common ? undefined : own.seconds('timeout')
  return {
    to,
    ...(from !== undefined && { from }),
    ...(fromName !== undefined && { fromName }),
    ...(headers.length > 0 && { headers }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(codecs.length > 0 && { codecs }),
  }
}

const headersOf = (values: Values): readonly Header[] =>
  (values.list('headers') as readonly Header[]).map(({ name, value }) => {
    const { variables } = values
    try {
      // Only what the author wrote is URL-encoded; what a variable holds goes on the wire as it is.
      return readHeader(
        asText(variables.substitute(name)),
        asText(variables.substitute(value, percentDecode)),
      )
    } catch (error) {
      throw badValue('headers', (error as Error).message)
    }
  })
