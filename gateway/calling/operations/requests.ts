import type { CallControl } from '../../../handlers/verbs.ts'
import { areKeys } from '../../calls/leg/telling.ts'
import { isJsonObject } from '../../core/json.ts'
import type { CallOperations } from './call-operations.ts'
import { CollectOperation, readCollect, readPrompt } from './collect.ts'
import { DetectOperation, readDetect } from './detect.ts'
import { DigitsOperation } from './digits.ts'
import { type Fields, Refusal } from './fields.ts'
import type { Manners, Operation, OperationCall, OperationKind } from './operation.ts'
import { PlayOperation } from './play.ts'
import { type EndReason, endReasons } from './reasons.ts'
import { RecordOperation, readRecord } from './record.ts'
import { ReferOperation, readRefer } from './refer.ts'
import { readPlay } from './sounds.ts'
import { readStream, StreamOperation } from './stream.ts'
import { readTap } from './tap.ts'

/** A call that is told what to do by requests. */
export interface CommandedCall extends OperationCall {
  readonly id: string
  readonly nodeId: string
  readonly control: CallControl
  readonly operations: CallOperations
  readonly manners: Manners
  hangup(reason: EndReason): Promise<void>
}

/** What a request is answered with. */
export interface CommandReply {
  readonly result: Readonly<Record<string, unknown>>
  /** Runs right after the result has been sent: for events that must follow it. */
  readonly after?: () => void
}

/** Answers a request; throws a {@link Refusal}. */
export type Command<T extends CommandedCall = CommandedCall> = (
  call: T,
  params: Fields,
) => CommandReply | Promise<CommandReply>

const loudest = 40

/** What every request that was taken is answered with. */
export const ok = (more: Readonly<Record<string, unknown>> = {}) => ({ code: '200', message: 'OK', ...more })

/** The answer to a request about a call. */
export const reply = (
  call: Pick<CommandedCall, 'id' | 'nodeId'>,
  more: Readonly<Record<string, unknown>> = {},
): CommandReply => ({ result: ok({ call_id: call.id, node_id: call.nodeId, ...more }) })

/** Starts an operation after its reply: the clients take its first event only then. */
const starts =
  (read: (call: CommandedCall, id: string, params: Fields) => Operation): Command =>
  (call, params) => {
    const id = params.needed('control_id')
    const answer = reply(call, { control_id: id })
    if (call.operations.check(id) === 'repeated') return answer
    const operation = read(call, id, params)
    return { ...answer, after: call.operations.accept(id, operation) }
  }

/** Tells an operation something. */
const tells =
  (kind: OperationKind, what: (operation: Operation, params: Fields) => void): Command =>
  (call, params) => {
    const id = params.needed('control_id')
    what(call.operations.find(id, kind), params)
    return reply(call, { control_id: id })
  }

const setsVolume = (kind: OperationKind): Command =>
  tells(kind, (operation, params) => {
    const db = params.number('volume', -loudest, loudest)
    if (db === undefined) throw params.wrong('volume', `a number from -${loudest} to ${loudest}`)
    operation.setVolume?.(db)
  })

const stops = (kind: OperationKind): Command => tells(kind, (operation) => operation.stop())
const pauses = (kind: OperationKind): Command =>
  tells(kind, (operation, params) =>
    operation.pause?.(params.oneOf('behavior', ['skip', 'silence'] as const) ?? 'silence'),
  )
const resumes = (kind: OperationKind): Command => tells(kind, (operation) => operation.resume?.())

const end: Command = (call, params) => {
  const reason = params.oneOf('reason', endReasons) ?? 'hangup'
  return { ...reply(call), after: () => void call.hangup(reason).catch(() => {}) }
}

const userEvent: Command = (call, params) => {
  const event = params.raw('event')
  if (!isJsonObject(event)) throw params.wrong('event', 'an object')
  if (!call.control.userEvent(event)) throw new Refusal('422', 'the caller cannot be told of events')
  return reply(call)
}

/** Reads `digits`. */
export const readDigits = (params: Fields): string => {
  const digits = params.needed('digits')
  if (!areKeys(digits)) throw params.wrong('digits', '0-9 * # A-D w W')
  return digits
}

/** What can be asked of every call that is in progress. */
export const commands: Readonly<Record<string, Command>> = {
  'calling.end': end,
  'calling.play': starts((call, id, params) => new PlayOperation(call, id, readPlay(params), call.manners)),
  'calling.play.pause': pauses('play'),
  'calling.play.resume': resumes('play'),
  'calling.play.stop': stops('play'),
  'calling.play.volume': setsVolume('play'),
  'calling.record': starts(
    (call, id, params) =>
      new RecordOperation(call, id, readRecord(params), params.given('record'), call.manners),
  ),
  'calling.record.pause': pauses('record'),
  'calling.record.resume': resumes('record'),
  'calling.record.stop': stops('record'),
  'calling.play_and_collect': starts(
    (call, id, params) => new CollectOperation(call, id, readPrompt(params), call.manners),
  ),
  'calling.play_and_collect.stop': stops('play_and_collect'),
  'calling.play_and_collect.volume': setsVolume('play_and_collect'),
  'calling.collect': starts(
    (call, id, params) => new CollectOperation(call, id, readCollect(params), call.manners),
  ),
  'calling.collect.stop': stops('collect'),
  'calling.collect.start_input_timers': tells('collect', (operation) => operation.startTimers?.()),
  'calling.detect': starts((call, id, params) => new DetectOperation(call, id, readDetect(params))),
  'calling.detect.stop': stops('detect'),
  'calling.tap': starts((call, id, params) => {
    const given = { tap: params.given('tap'), device: params.given('device') }
    return new StreamOperation(call, id, readTap(params), { kind: 'tap', given })
  }),
  'calling.tap.stop': stops('tap'),
  'calling.stream': starts((call, id, params) => {
    const { url, name } = params.all
    const given = { url, ...(name !== undefined && { name }) }
    return new StreamOperation(call, id, readStream(params), { kind: 'stream', given })
  }),
  'calling.stream.stop': stops('stream'),
  'calling.send_digits': starts((call, id, params) => {
    const digits = readDigits(params)
    const send = (signal: AbortSignal) => call.control.sendDigits(digits, { signal })
    return new DigitsOperation((type, told) => call.tell(type, told), id, send)
  }),
  'calling.refer': starts((call, id, params) => new ReferOperation(call, id, readRefer(params))),
  'calling.hold': async (call) => {
    await call.control.hold()
    return reply(call)
  },
  'calling.unhold': async (call) => {
    await call.control.unhold()
    return reply(call)
  },
  'calling.user_event': userEvent,
}
