import { type CallControl, CallEnded, VerbFailed } from '../../handlers/verbs.ts'
import type { LiveCall, LiveCalls } from '../calls/call/live-call.ts'
import type { CallHistory, CallRow, CallsInProgress } from '../calls/log/call-rows.ts'
import { type Code, catalogue, codeOf, TrunklineError } from '../core/errors/catalogue.ts'
import type { AddressBook } from '../model.ts'
import type { ApiCall } from './api-call.ts'
import { findLiveCall } from './find-live-call.ts'
import { Fields, Refusal } from './operations/command-fields.ts'
import { type Command, commands } from './operations/command-table.ts'
import { endReasons } from './operations/end-reasons.ts'
import { transferHandler } from './transfer-handler.ts'

/** Collaborators of {@link CallCommands}. */
export interface CallCommandsDeps {
  /** Returns a call under control of the API, with the verbs `control`. */
  readonly apiCallOf: (control: CallControl) => ApiCall
  readonly calls: LiveCalls
  readonly addresses: AddressBook
  readonly history: Pick<CallHistory, 'find'> & Pick<CallsInProgress, 'calledBy'>
}

const callControlCommands = ['calling.end', 'calling.disconnect', 'calling.transfer'] as const

/** Commands that a call in progress accepts. */
export const callCommands: readonly string[] = [
  ...new Set([...callControlCommands, ...Object.keys(commands)]),
]

/** Codes with which a call ends, by reason. An unanswered call is rejected with them. */
const codes: Readonly<Record<(typeof endReasons)[number], Code>> = {
  hangup: 'normal',
  cancel: 'canceled',
  busy: 'busy',
  noAnswer: 'no_answer',
  decline: 'declined',
  error: 'handler_failed',
}

/** Runs commands of the API on calls in progress, beside their handlers. */
export class CallCommands {
  readonly #deps: CallCommandsDeps
  /** Calls with commands, until they end. */
  readonly #calls = new Map<string, ApiCall>()

  constructor(deps: CallCommandsDeps) {
    this.#deps = deps
  }

  /** Number of calls with commands. */
  get size(): number {
    return this.#calls.size
  }

  /**
   * Runs one of the {@link callCommands}, and returns the call's row. Throws `unknown_call`,
   * `call_not_in_progress`, `invalid_field` (with the field below `params`), `unknown_resource` for a control
   * id, and codes of verbs.
   */
  async run(projectId: string, callId: string, command: string, params: unknown): Promise<CallRow> {
    const { calls, history } = this.#deps
    const { live, row } = await findLiveCall(calls, history, projectId, callId)
    try {
      await this.#do(live, { projectId, callId, command }, new Fields(params))
    } catch (error) {
      throw apiError(error)
    }
    // The row is read back, because verbs and observers of the call change it while the command runs.
    return (await history.find(projectId, callId)) ?? row
  }

  async #do(live: LiveCall, { projectId, callId, command }: CommandRequest, params: Fields): Promise<void> {
    if (command === 'calling.end') live.end(endCode(live, params))
    else if (command === 'calling.disconnect') this.#disconnect(projectId, callId)
    else if (command === 'calling.transfer')
      live.redirect(transferHandler(params.needed('dest'), this.#deps.addresses, projectId))
    else await this.#operate(live, callId, commands[command], params)
  }

  async #operate(
    live: LiveCall,
    callId: string,
    command: Command | undefined,
    params: Fields,
  ): Promise<void> {
    const { control } = live
    if (!command) throw new TrunklineError('verb_unavailable')
    if (!control) throw new TrunklineError('call_not_in_progress')
    const call = this.#calls.get(callId) ?? this.#add(callId, this.#deps.apiCallOf(control))
    const { after } = await command(call, params)
    after?.()
  }

  #add(callId: string, call: ApiCall): ApiCall {
    this.#calls.set(callId, call)
    void call.over.then(() => this.#calls.delete(callId))
    return call
  }

  /** Ends the connection of the call. The call itself goes on with its document. */
  #disconnect(projectId: string, callId: string): void {
    const { calls, history } = this.#deps
    // The call of an address is a child of the leg that leads to it, but not connected by that leg.
    const called = history.calledBy(callId).filter(({ direction }) => direction === 'outbound-dial')
    const connected = called.map(({ id }) => calls.live(projectId, id))
    if (!connected.some((leg) => leg?.state === 'answered')) throw new TrunklineError('call_not_in_progress')
    for (const leg of connected) leg?.end('normal')
  }
}

interface CommandRequest {
  readonly projectId: string
  readonly callId: string
  readonly command: string
}

const endCode = ({ state }: LiveCall, params: Fields): Code => {
  const code = codes[params.oneOf('reason', endReasons) ?? 'hangup']
  if (state === 'answered') return 'normal'
  return code === 'normal' ? 'canceled' : code
}

const refusals: Readonly<Record<string, Code>> = {
  400: 'invalid_field',
  404: 'unknown_resource',
  409: 'call_not_in_progress',
  422: 'call_not_in_progress',
  429: 'too_many_requests',
}

/** Converts an error of a command into one of the API. */
const apiError = (error: unknown): unknown => {
  if (error instanceof CallEnded) return new TrunklineError('call_not_in_progress')
  if (error instanceof Refusal) {
    const { attribute } = error
    const code = refusals[error.code] ?? 'bad_request'
    return new TrunklineError(code, error.message, attribute === undefined ? {} : { attribute })
  }
  if (error instanceof VerbFailed && Object.hasOwn(catalogue, error.code))
    return new TrunklineError(codeOf(error), error.message)
  return error
}
