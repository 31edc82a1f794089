import { roomPattern } from '../../../handlers/common/conferences.ts'
import type { RoomMembership } from '../../../handlers/verbs.ts'
import type { Fields } from '../../calling/operations/command-fields.ts'
import {
  failureCode,
  isOver,
  type Operation,
  type OperationCall,
} from '../../calling/operations/operation-types.ts'
import { textOf } from '../../core/errors/catalogue.ts'

/** Reads the name of a room, or its address. */
export const readRoomName = (params: Fields): string => {
  const name = params.needed('name')
  if (!new RegExp(roomPattern).test(name)) throw params.wrong('name', 'the name or the address of a room')
  return name
}

/**
 * Runs `calling.join_room`, and reports with `calling.call.room` that the call has joined and left. The newer
 * server SDKs have the request, but no event for it.
 */
export class RoomOperation implements Operation {
  readonly kind = 'room'
  readonly #call: OperationCall
  readonly #name: string
  readonly #abort = new AbortController()
  #membership: RoomMembership | undefined

  constructor(call: OperationCall, name: string) {
    this.#call = call
    this.#name = name
  }

  async run(): Promise<void> {
    try {
      const { kind } = await this.#call.control.joinRoom({
        name: this.#name,
        signal: this.#abort.signal,
        onJoined: (membership) => this.#joined(membership),
      })
      this.#send('left', { reason: kind })
    } catch (error) {
      if (isOver(error, this.#abort.signal)) this.#send('left', { reason: 'left' })
      else this.#failed(failureCode(error))
    }
  }

  /** Leaves the room. */
  stop(): void {
    this.#abort.abort()
  }

  #joined(membership: RoomMembership): void {
    this.#membership = membership
    this.#send('joined')
  }

  #failed(code: string): void {
    this.#send('failed', { error: code, message: textOf(code) })
  }

  #send(state: 'joined' | 'left' | 'failed', more: Readonly<Record<string, unknown>> = {}): void {
    const { roomId, roomSessionId, memberId } = this.#membership ?? {}
    const ids = { room_id: roomId, room_session_id: roomSessionId, member_id: memberId }
    this.#call.sendEvent('calling.call.room', {
      name: this.#name,
      state,
      ...(this.#membership && ids),
      ...more,
    })
  }
}
