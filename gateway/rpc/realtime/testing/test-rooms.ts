import type { RoomSession } from '../../../rooms/room-session.ts'
import { SampleRoom } from '../../../rooms/testing/sample-room.ts'
import type { RoomSessions } from '../application-rooms.ts'

/** Room sessions of tests, with real sessions and fake media. */
export class TestRooms implements RoomSessions {
  readonly #open = new Set<RoomSession>()
  readonly #listeners = new Set<(session: RoomSession) => void>()

  /** Number of listeners of starting sessions. */
  get listeners(): number {
    return this.#listeners.size
  }

  /** Starts a session of a project, without members. */
  start(id: string, projectId = 'demo'): SampleRoom {
    const room = new SampleRoom({ projectId, id: `room-of-${id}`, name: 'lounge' }, 'composed', { id })
    const { session } = room
    this.#open.add(session)
    session.listen(({ kind }) => {
      if (kind === 'room.ended') this.#open.delete(session)
    })
    for (const listener of this.#listeners) listener(session)
    return room
  }

  sessions(projectId: string): readonly RoomSession[] {
    return [...this.#open].filter(({ settings }) => settings.projectId === projectId)
  }

  session(projectId: string, id: string): RoomSession | undefined {
    return this.sessions(projectId).find((each) => each.id === id)
  }

  onStart(listener: (session: RoomSession) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
