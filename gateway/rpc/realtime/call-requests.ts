import type { Reply } from '../session.ts'
import type { AppCall } from './app-call.ts'
import { type Fields, Refusal } from './fields.ts'
import type { Manners, Operation, OperationKind } from './operation.ts'
import { CollectOperation, readCollect, readPrompt } from './operations/collect.ts'
import { ConnectOperation, type Peer, readConnect } from './operations/connect.ts'
import { DetectOperation, readDetect } from './operations/detect.ts'
import { DigitsOperation } from './operations/digits.ts'
import { PlayOperation } from './operations/play.ts'
import { RecordOperation, readRecord } from './operations/record.ts'
import { ReferOperation, readRefer } from './operations/refer.ts'
import { readTap, TapOperation } from './operations/tap.ts'
import { endReasons } from './reasons.ts'
import { readPlay } from './sounds.ts'
import { ok } from './wire.ts'

type Answer = (call: AppCall, params: Fields) => Reply | Promise<Reply>

const loudest = 40
const digitsFormat = /^[0-9*#A-DwW]+$/
/** Clients whose promises settle with success alone. */
const successOnly = /^@signalwire\/nodejs\/realtime-api\/4\.2\./

const reply = (call: AppCall, more: Readonly<Record<string, unknown>> = {}): Reply => ({
  result: ok({ call_id: call.id, node_id: call.application.nodeId, ...more }),
})

/** Starts an operation after its reply: the clients take its first event only then. */
const starts =
  (read: (call: AppCall, id: string, params: Fields) => Operation): Answer =>
  (call, params) => {
    const id = params.needed('control_id')
    const answer = reply(call, { control_id: id })
    if (call.check(id) === 'repeated') return answer
    const operation = read(call, id, params)
    return { ...answer, after: call.accept(id, operation) }
  }

/** Tells an operation something. */
const tells =
  (kind: OperationKind, what: (operation: Operation, params: Fields) => void): Answer =>
  (call, params) => {
    const id = params.needed('control_id')
    what(call.operation(id, kind), params)
    return reply(call, { control_id: id })
  }

const setsVolume = (kind: OperationKind): Answer =>
  tells(kind, (operation, params) => {
    const db = params.number('volume', -loudest, loudest)
    if (db === undefined) throw params.wrong('volume', `a number from -${loudest} to ${loudest}`)
    operation.setVolume?.(db)
  })

const stops = (kind: OperationKind): Answer => tells(kind, (operation) => operation.stop())
const pauses = (kind: OperationKind): Answer =>
  tells(kind, (operation, params) =>
    operation.pause?.(params.oneOf('behavior', ['skip', 'silence'] as const) ?? 'silence'),
  )
const resumes = (kind: OperationKind): Answer => tells(kind, (operation) => operation.resume?.())

const manners = (call: AppCall): Manners => ({ successOnly: successOnly.test(call.application.agent) })

const answer: Answer = async (call) => {
  await call.control.answer()
  return { ...reply(call), after: () => call.answered() }
}

const end: Answer = (call, params) => {
  const reason = params.oneOf('reason', endReasons) ?? 'hangup'
  return { ...reply(call), after: () => void call.hangup(reason).catch(() => {}) }
}

const connect: Answer = (call, params) => {
  const wishes = readConnect(params)
  if (call.only('connect')) throw new Refusal('409', 'the call is being connected, or connected')
  if (call.check(wishes.tag) === 'repeated') throw new Refusal('409', 'tag: is the id of an operation')
  return { ...reply(call), after: call.accept(wishes.tag, new ConnectOperation(call, wishes)) }
}

const disconnect = (call: AppCall): Reply => {
  const connected = call.only('connect')
  if (!connected) throw new Refusal('409', 'the call is not connected')
  return { ...reply(call), after: () => connected.stop() }
}

const userEvent: Answer = (call, params) => {
  const event = params.raw('event')
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw params.wrong('event', 'an object')
  if (!call.control.userEvent(event as Readonly<Record<string, unknown>>))
    throw new Refusal('422', 'the caller cannot be told of events')
  return reply(call)
}

const readDigits = (params: Fields): string => {
  const digits = params.needed('digits')
  if (!digitsFormat.test(digits)) throw params.wrong('digits', '0-9 * # A-D w W')
  return digits
}

/** What can be asked of a call. */
export const callRequests: Readonly<Record<string, Answer>> = {
  'calling.answer': answer,
  'calling.end': end,
  'calling.play': starts((call, id, params) => new PlayOperation(call, id, readPlay(params), manners(call))),
  'calling.play.pause': pauses('play'),
  'calling.play.resume': resumes('play'),
  'calling.play.stop': stops('play'),
  'calling.play.volume': setsVolume('play'),
  'calling.record': starts(
    (call, id, params) =>
      new RecordOperation(call, id, readRecord(params), params.given('record'), manners(call)),
  ),
  'calling.record.pause': pauses('record'),
  'calling.record.resume': resumes('record'),
  'calling.record.stop': stops('record'),
  'calling.play_and_collect': starts(
    (call, id, params) => new CollectOperation(call, id, readPrompt(params), manners(call)),
  ),
  'calling.play_and_collect.stop': stops('play_and_collect'),
  'calling.play_and_collect.volume': setsVolume('play_and_collect'),
  'calling.collect': starts(
    (call, id, params) => new CollectOperation(call, id, readCollect(params), manners(call)),
  ),
  'calling.collect.stop': stops('collect'),
  'calling.collect.start_input_timers': tells('collect', (operation) => operation.startTimers?.()),
  'calling.detect': starts((call, id, params) => new DetectOperation(call, id, readDetect(params))),
  'calling.detect.stop': stops('detect'),
  'calling.tap': starts((call, id, params) => {
    const given = { tap: params.given('tap'), device: params.given('device') }
    return new TapOperation(call, id, readTap(params), given)
  }),
  'calling.tap.stop': stops('tap'),
  'calling.send_digits': starts((call, id, params) => {
    const digits = readDigits(params)
    const send = (signal: AbortSignal) => call.control.sendDigits(digits, { signal })
    return new DigitsOperation((type, told) => call.tell(type, told), id, send)
  }),
  'calling.refer': starts((call, id, params) => new ReferOperation(call, id, readRefer(params))),
  'calling.connect': connect,
  'calling.disconnect': disconnect,
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

/** What can be asked of the leg that a call is connected to. */
export const peerRequests: Readonly<Record<string, (call: AppCall, peer: Peer, params: Fields) => Reply>> = {
  'calling.end': (call, { connected }) => ({ ...reply(call), after: () => connected.hangup() }),
  'calling.disconnect': (call) => disconnect(call),
  'calling.send_digits': (call, peer, params) => {
    const id = params.needed('control_id')
    const digits = readDigits(params)
    const answer = reply(call, { call_id: peer.id, control_id: id })
    if (call.check(id) === 'repeated') return answer
    const tell = (type: string, told: Readonly<Record<string, unknown>>) =>
      call.tell(type, { ...told, call_id: peer.id })
    const operation = new DigitsOperation(tell, id, () => peer.connected.sendDigits(digits))
    return { ...answer, after: call.accept(id, operation) }
  },
}
