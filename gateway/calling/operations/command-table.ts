import type { CallControl } from '../../../handlers/verbs.ts'
import { isDigits } from '../../calls/leg/dtmf.ts'
import { isJsonObject } from '../../core/json.ts'
import { holdAgent, messageAgent, stopAgent, unholdAgent } from './agent-commands.ts'
import type { CallOperations } from './call-operations.ts'
import { CollectOperation, readCollect, readPrompt } from './collect-operation.ts'
import { type Fields, Refusal } from './command-fields.ts'
import { DetectOperation, readDetect } from './detect-operation.ts'
import { DigitsOperation } from './digits-operation.ts'
import { type EndReason, endReasons } from './end-reasons.ts'
import type { ClientQuirks, Operation, OperationCall, OperationKind } from './operation-types.ts'
import { PlayOperation } from './play-operation.ts'
import { readPlay } from './play-request.ts'
import { RecordOperation, readRecord } from './record-operation.ts'
import { ReferOperation, readRefer } from './refer-operation.ts'
import { readStream, StreamOperation } from './stream-operation.ts'
import { readTap } from './tap-request.ts'

/** Call that accepts commands. */
export interface CommandedCall extends OperationCall {
  readonly id: string
  readonly nodeId: string
  readonly control: CallControl
  readonly operations: CallOperations
  readonly quirks: ClientQuirks
  hangup(reason: EndReason): Promise<void>
}

/** Reply to a command. */
export interface CommandReply {
  readonly result: Readonly<Record<string, unknown>>
  /** Runs after the result was sent, for events that must follow it. */
  readonly after?: () => void
}

/** Handles a command; throws a {@link Refusal}. */
export type Command<T extends CommandedCall = CommandedCall> = (
  call: T,
  params: Fields,
) => CommandReply | Promise<CommandReply>

const maxVolumeDb = 40

/** Returns the result of an accepted command. */
export const ok = (more: Readonly<Record<string, unknown>> = {}) => ({ code: '200', message: 'OK', ...more })

/** Returns the reply to a command about a call. */
export const reply = (
  call: Pick<CommandedCall, 'id' | 'nodeId'>,
  more: Readonly<Record<string, unknown>> = {},
): CommandReply => ({ result: ok({ call_id: call.id, node_id: call.nodeId, ...more }) })

/** Starts an operation after its reply: clients accept its first event only then. */
export const startsOperation =
  <T extends CommandedCall = CommandedCall>(
    read: (call: T, id: string, params: Fields) => Operation,
  ): Command<T> =>
  (call, params) => {
    const id = params.needed('control_id')
    const answer = reply(call, { control_id: id })
    if (call.operations.check(id) === 'repeated') return answer
    const operation = read(call, id, params)
    return { ...answer, after: call.operations.accept(id, operation) }
  }

/** Passes a command to an operation. */
const updatesOperation =
  (kind: OperationKind, what: (operation: Operation, params: Fields) => void): Command =>
  (call, params) => {
    const id = params.needed('control_id')
    what(call.operations.find(id, kind), params)
    return reply(call, { control_id: id })
  }

const setsVolume = (kind: OperationKind): Command =>
  updatesOperation(kind, (operation, params) => {
    const db = params.number('volume', -maxVolumeDb, maxVolumeDb)
    if (db === undefined) throw params.wrong('volume', `a number from -${maxVolumeDb} to ${maxVolumeDb}`)
    operation.setVolume?.(db)
  })

/** Stops an operation. */
export const stops = (kind: OperationKind): Command => updatesOperation(kind, (operation) => operation.stop())
const pauses = (kind: OperationKind): Command =>
  updatesOperation(kind, (operation, params) =>
    operation.pause?.(params.oneOf('behavior', ['skip', 'silence'] as const) ?? 'silence'),
  )
const resumes = (kind: OperationKind): Command => updatesOperation(kind, (operation) => operation.resume?.())

const end: Command = (call, params) => {
  const reason = params.oneOf('reason', endReasons) ?? 'hangup'
  return { ...reply(call), after: () => void call.hangup(reason).catch(() => {}) }
}

/** Passes a command to the running agent of the call. */
const toAgent =
  (act: (call: CommandedCall, params: Fields) => void): Command =>
  (call, params) => {
    act(call, params)
    return reply(call)
  }

const userEvent: Command = (call, params) => {
  const event = params.raw('event')
  if (!isJsonObject(event)) throw params.wrong('event', 'an object')
  if (!call.control.sendUserEvent(event)) throw new Refusal('422', 'the caller cannot receive events')
  return reply(call)
}

/** Reads `digits`. */
export const readDigits = (params: Fields): string => {
  const digits = params.needed('digits')
  if (!isDigits(digits)) throw params.wrong('digits', '0-9 * # A-D w W')
  return digits
}

/** Commands that every call in progress accepts. */
export const commands: Readonly<Record<string, Command>> = {
  'calling.end': end,
  'calling.play': startsOperation(
    (call, id, params) => new PlayOperation(call, id, readPlay(params), call.quirks),
  ),
  'calling.play.pause': pauses('play'),
  'calling.play.resume': resumes('play'),
  'calling.play.stop': stops('play'),
  'calling.play.volume': setsVolume('play'),
  'calling.record': startsOperation(
    (call, id, params) =>
      new RecordOperation(call, id, readRecord(params), params.repeated('record'), call.quirks),
  ),
  'calling.record.pause': pauses('record'),
  'calling.record.resume': resumes('record'),
  'calling.record.stop': stops('record'),
  'calling.play_and_collect': startsOperation(
    (call, id, params) => new CollectOperation(call, id, readPrompt(params), call.quirks),
  ),
  'calling.play_and_collect.stop': stops('play_and_collect'),
  'calling.play_and_collect.volume': setsVolume('play_and_collect'),
  'calling.collect': startsOperation(
    (call, id, params) => new CollectOperation(call, id, readCollect(params), call.quirks),
  ),
  'calling.collect.stop': stops('collect'),
  'calling.collect.start_input_timers': updatesOperation('collect', (operation) => operation.startTimers?.()),
  'calling.detect': startsOperation((call, id, params) => new DetectOperation(call, id, readDetect(params))),
  'calling.detect.stop': stops('detect'),
  'calling.tap': startsOperation((call, id, params) => {
    const given = { tap: params.repeated('tap'), device: params.repeated('device') }
    return new StreamOperation(call, id, readTap(params), { kind: 'tap', given })
  }),
  'calling.tap.stop': stops('tap'),
  'calling.stream': startsOperation((call, id, params) => {
    const { url, name } = params.all
    const given = { url, ...(name !== undefined && { name }) }
    return new StreamOperation(call, id, readStream(params), { kind: 'stream', given })
  }),
  'calling.stream.stop': stops('stream'),
  'calling.send_digits': startsOperation((call, id, params) => {
    const digits = readDigits(params)
    const send = (signal: AbortSignal) => call.control.sendDigits(digits, { signal })
    return new DigitsOperation((type, fields) => call.sendEvent(type, fields), id, send)
  }),
  'calling.refer': startsOperation((call, id, params) => new ReferOperation(call, id, readRefer(params))),
  'calling.hold': async (call) => {
    await call.control.hold()
    return reply(call)
  },
  'calling.unhold': async (call) => {
    await call.control.unhold()
    return reply(call)
  },
  'calling.user_event': userEvent,
  'calling.ai_hold': toAgent(holdAgent),
  'calling.ai_unhold': toAgent(unholdAgent),
  'calling.ai_message': toAgent(messageAgent),
  'calling.ai_stop': toAgent(stopAgent),
}
