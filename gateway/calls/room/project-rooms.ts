import type { RoomOptions, RoomResult } from '../../../handlers/verbs.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import type { Directory } from '../../directory/directory.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { Call } from '../call/call.ts'
import { projectKey } from '../conference/project-names.ts'
import { failureOf } from '../leg/failures.ts'
import { OpenRoom, type OpenRoomDeps } from './open-room.ts'
import type { MemberFigures } from './room-figures.ts'
import { RoomParticipant } from './room-participant.ts'
import { roomSettings } from './room-settings.ts'

/** Collaborators of {@link ProjectRooms}. */
export interface ProjectRoomsDeps extends OpenRoomDeps {
  readonly directory: Pick<Directory, 'room'>
}

/** Room sessions of all projects. A session exists while it has a member. */
export class ProjectRooms {
  readonly #deps: ProjectRoomsDeps
  /** Promises, so that two callers who join at the same time share a session. */
  readonly #rooms = new Map<string, Promise<OpenRoom>>()
  readonly #open = new Set<OpenRoom>()
  readonly #onStart = new Set<(session: RoomSession) => void>()

  constructor(deps: ProjectRoomsDeps) {
    this.#deps = deps
  }

  /** Whether files can be played into rooms. */
  get hasFfmpeg(): boolean {
    return this.#deps.files.hasFfmpeg
  }

  /** Number of room sessions in progress. */
  get count(): number {
    return this.#rooms.size
  }

  /** Number of members of all sessions, screens included. */
  get members(): number {
    return [...this.#open].reduce((sum, { session }) => sum + session.size, 0)
  }

  /** Sessions in progress of a project, in order of their start. */
  sessions(projectId: string): readonly RoomSession[] {
    return [...this.#open]
      .map(({ session }) => session)
      .filter(({ settings }) => settings.projectId === projectId)
  }

  /** Returns a session in progress of a project by its id; undefined if it has none of this id. */
  session(projectId: string, id: string): RoomSession | undefined {
    return this.sessions(projectId).find((each) => each.id === id)
  }

  /** Latest figures of the members of all sessions. */
  get figures(): readonly MemberFigures[] {
    return [...this.#open].flatMap(({ figures }) => figures.all)
  }

  /** Returns the latest figures of a member of a session; undefined before its first sample. */
  figuresOf(session: RoomSession, memberId: string): MemberFigures | undefined {
    return [...this.#open].find((room) => room.session === session)?.figures.of(memberId)
  }

  /**
   * Adds a listener that receives each session at its start, before its first member joins. Errors of a
   * listener are logged. Returns a function that removes it.
   */
  onStart(listener: (session: RoomSession) => void): () => void {
    const guarded = guardListener(listener, this.#deps.log)
    this.#onStart.add(guarded)
    return () => void this.#onStart.delete(guarded)
  }

  /** Runs `CallControl.joinRoom`. Settles when the caller has left. */
  async join(call: Call, options: RoomOptions): Promise<RoomResult> {
    const { projectId } = call.info
    const found = this.#deps.directory.room(options.name, projectId)
    const key = projectKey(projectId, found.resource?.id ?? found.address)
    const room = await this.#roomOf(key, () => roomSettings(found, projectId, call.caller.profile?.newRoom))
    try {
      return await new RoomParticipant(room, call, this.#deps.clock).run(options)
    } catch (error) {
      throw error instanceof TrunklineError ? failureOf(error, 'room_failed') : error
    } finally {
      // A room whose only caller was refused, or has hung up before the answer, ends.
      if (room.session.size === 0) room.session.end()
    }
  }

  async #roomOf(key: string, settings: () => ReturnType<typeof roomSettings>): Promise<OpenRoom> {
    for (;;) {
      const opening = this.#rooms.get(key) ?? this.#openRoom(key, settings())
      this.#rooms.set(key, opening)
      try {
        const room = await opening
        // The last member may have left meanwhile.
        if (!room.session.isEnded) return room
      } catch (error) {
        this.#rooms.delete(key)
        throw failureOf(error, 'room_failed')
      }
    }
  }

  async #openRoom(key: string, settings: ReturnType<typeof roomSettings>): Promise<OpenRoom> {
    const onClosed = () => {
      this.#rooms.delete(key)
      this.#open.delete(room)
    }
    const room: OpenRoom = await OpenRoom.open(this.#deps, settings, onClosed)
    this.#open.add(room)
    for (const listener of this.#onStart) listener(room.session)
    return room
  }
}
