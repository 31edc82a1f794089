import { randomUUID } from 'node:crypto'
import type { AgentRequest } from '../../../handlers/agent/agent-runner.ts'
import { AgentOperation, readAgentRequest } from '../../calling/operations/agent-operation.ts'
import type { Fields } from '../../calling/operations/command-fields.ts'
import { Refusal } from '../../calling/operations/command-fields.ts'
import {
  type Command,
  type CommandReply,
  commands,
  readDigits,
  reply,
  startsOperation,
  stops,
} from '../../calling/operations/command-table.ts'
import { DigitsOperation } from '../../calling/operations/digits-operation.ts'
import type { AppCall } from './app-call.ts'
import { type ConnectedPeer, ConnectOperation, readConnect } from './connect-operation.ts'
import { RoomOperation, readRoomName } from './room-operation.ts'

const answer: Command<AppCall> = async (call) => {
  await call.control.answer()
  return { ...reply(call), after: () => call.answered() }
}

/** Throws 409 if the call has another party, or is in a room: each takes the whole audio of the caller. */
const checkFree = ({ operations }: AppCall): void => {
  if (operations.only('connect')) throw new Refusal('409', 'the call is connecting or connected')
  if (operations.only('room')) throw new Refusal('409', 'the call is in a room')
}

const connect: Command<AppCall> = (call, params) => {
  const request = readConnect(params)
  checkFree(call)
  if (call.operations.check(request.tag) === 'repeated')
    throw new Refusal('409', 'tag: in use by another operation')
  return { ...reply(call), after: call.operations.accept(request.tag, new ConnectOperation(call, request)) }
}

const disconnect = (call: AppCall): CommandReply => {
  const connected = call.operations.only('connect')
  if (!connected) throw new Refusal('409', 'the call is not connected')
  return { ...reply(call), after: () => connected.stop() }
}

const joinRoom: Command<AppCall> = (call, params) => {
  const name = readRoomName(params)
  checkFree(call)
  // The request has no id of its own, and a call is in at most one room.
  const id = randomUUID()
  call.operations.check(id)
  return { ...reply(call), after: call.operations.accept(id, new RoomOperation(call, name)) }
}

const leaveRoom: Command<AppCall> = async (call) => {
  if (!(await call.operations.stopOnly('room'))) throw new Refusal('409', 'the call is in no room')
  return reply(call)
}

const startsAgent = (method: AgentRequest['method']): Command<AppCall> =>
  startsOperation((call, id, params) => {
    const request = { ...readAgentRequest(params, method), onTranscript: call.transcriptOf(id) }
    return new AgentOperation(call, id, request, call.runAgent)
  })

/** Handlers of the requests about a call, by method. */
export const callRequests: Readonly<Record<string, Command<AppCall>>> = {
  ...commands,
  'calling.answer': answer,
  'calling.connect': connect,
  'calling.disconnect': disconnect,
  'calling.join_room': joinRoom,
  'calling.leave_room': leaveRoom,
  'calling.ai': startsAgent('ai'),
  'calling.amazon_bedrock': startsAgent('amazon_bedrock'),
  'calling.ai.stop': stops('ai'),
}

/** Handlers of the requests about the leg that a call is connected to, by method. */
export const peerRequests: Readonly<
  Record<string, (call: AppCall, peer: ConnectedPeer, params: Fields) => CommandReply>
> = {
  'calling.end': (call, { connected }) => ({ ...reply(call), after: () => connected.hangup() }),
  'calling.disconnect': (call) => disconnect(call),
  'calling.send_digits': (call, peer, params) => {
    const id = params.needed('control_id')
    const digits = readDigits(params)
    const answer = reply(call, { call_id: peer.id, control_id: id })
    if (call.operations.check(id) === 'repeated') return answer
    const sendEvent = (type: string, fields: Readonly<Record<string, unknown>>) =>
      call.sendEvent(type, { ...fields, call_id: peer.id })
    const operation = new DigitsOperation(sendEvent, id, () => peer.connected.sendDigits(digits))
    return { ...answer, after: call.operations.accept(id, operation) }
  },
}
