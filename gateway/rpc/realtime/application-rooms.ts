import { type Fields, Refusal, textOf } from '../../calling/operations/command-fields.ts'
import { ok } from '../../calling/operations/command-table.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { RoomEvent } from '../../rooms/room-types.ts'
import { channelOf, videoRoomBodies } from '../rooms/video-bodies.ts'
import { type VideoEvent, VideoRoomEvents } from '../rooms/video-events.ts'
import { handleVideoRequest, videoMethods } from '../rooms/video-requests.ts'
import type { Reply } from '../rpc-session.ts'
import type { Application } from './application.ts'
import { allRooms, RoomSubscriptions } from './room-subscriptions.ts'

/** Room sessions in progress, as {@link ApplicationRooms} uses them. */
export interface RoomSessions {
  /** Sessions of a project, in order of their start. */
  sessions(projectId: string): readonly RoomSession[]
  /** Returns a session of a project by its id; undefined if it has none of this id. */
  session(projectId: string, id: string): RoomSession | undefined
  /** Adds a listener of sessions that start, before their first member joins. */
  onStart(listener: (session: RoomSession) => void): () => void
}

const subscribeMethod = 'signalwire.subscribe'
const unsubscribeMethod = 'signalwire.unsubscribe'
const listMethod = 'video.rooms.get'
const getMethod = 'video.room.get'

/** Requests about rooms. */
export const applicationRoomMethods: ReadonlySet<string> = new Set([
  subscribeMethod,
  unsubscribeMethod,
  listMethod,
  getMethod,
  ...videoMethods,
])

const startedEvent = 'video.room.started'
const subscribedEvent = 'video.room.subscribed'
/** Requests whose sender receives the events of the new object, even without a subscription. */
const startMethod = /^(video\.(?:recording|playback|stream))\.start$/
const maxNames = 100
const maxNameLength = 64

/**
 * Rooms as applications see them: `Video` of the published server SDKs. An application sees the sessions of
 * its project alone, and may do everything in them.
 */
export class ApplicationRooms {
  readonly #rooms: RoomSessions
  readonly #subscriptions = new RoomSubscriptions()
  readonly #unlisten: () => void

  constructor(rooms: RoomSessions) {
    this.#rooms = rooms
    this.#unlisten = rooms.onStart((session) => this.#watch(session))
  }

  /** Number of subscriptions of applications: one for each application and channel. */
  get subscriptions(): number {
    return this.#subscriptions.size
  }

  /** Answers one of {@link applicationRoomMethods}. Throws a {@link Refusal}. */
  handle(application: Application, method: string, params: Fields): Reply {
    switch (method) {
      case subscribeMethod:
        return this.#subscribe(application, params)
      case unsubscribeMethod:
        return this.#unsubscribe(application, params)
      case listMethod:
        return { result: ok({ rooms: this.#sessions(application).map(bodyOf) }) }
      case getMethod:
        return { result: ok({ room: bodyOf(this.#session(application, params)) }) }
      default:
        return this.#act(application, method, params)
    }
  }

  /** Removes the subscriptions of an application. */
  forget(application: Application): void {
    this.#subscriptions.forget(application)
  }

  /** Sends no event of later sessions. */
  close(): void {
    this.#unlisten()
  }

  #subscribe(application: Application, params: Fields): Reply {
    const channel = params.needed('event_channel')
    const events = eventsOf(params)
    if (events.length === 0) throw params.wrong('events', 'a list of at least one')
    const wantsState = params.flag('get_initial_state') ?? false
    const session = channel === allRooms ? undefined : this.#sessionOf(application, channel)
    const before = this.#subscriptions.events(application, channel)
    // The name of the state is kept among those of the events, as a mark that the client has received it.
    const kept = session && wantsState ? [...events, subscribedEvent] : events
    this.#subscriptions.add(application, channel, kept)
    if (!wantsState) return { result: ok() }
    // After a repeated state, the SDKs deliver each event twice. It is sent only if the client waits for it.
    if (session && (events.includes(subscribedEvent) || !before?.has(subscribedEvent)))
      return { result: ok(), after: () => sendTo(application, eventsIn(session).subscribed()) }
    if (!session && events.includes(startedEvent) && !before?.has(startedEvent))
      return { result: ok(), after: () => this.#sendStarted(application) }
    return { result: ok() }
  }

  #unsubscribe(application: Application, params: Fields): Reply {
    const channel = params.needed('event_channel')
    const events = params.raw('events') === undefined ? undefined : eventsOf(params)
    this.#subscriptions.remove(application, channel, events)
    return { result: ok() }
  }

  #sendStarted(application: Application): void {
    for (const session of this.#sessions(application)) sendTo(application, eventsIn(session).started())
  }

  #act(application: Application, method: string, params: Fields): Reply {
    const id = params.raw('room_session_id')
    const session = typeof id === 'string' ? this.#rooms.session(application.projectId, id) : undefined
    const [, kind] = startMethod.exec(method) ?? []
    if (session && kind) this.#follow(application, session, kind)
    const actor = session && { session, isGuest: false, may: () => true }
    return handleVideoRequest(actor, method, params.all)
  }

  #follow(application: Application, session: RoomSession, kind: string): void {
    const events = ['started', 'updated', 'ended'].map((state) => `${kind}.${state}`)
    this.#subscriptions.add(application, channelOf(session), events)
  }

  /** Returns the sessions of the project. A session whose first member is about to join is not among them. */
  #sessions({ projectId }: Application): readonly RoomSession[] {
    return this.#rooms.sessions(projectId).filter(({ size }) => size > 0)
  }

  #session(application: Application, params: Fields): RoomSession {
    const id = params.needed('room_session_id')
    const session = this.#rooms.session(application.projectId, id)
    if (session) return session
    throw new Refusal('404', 'room_session_id: the room session does not exist')
  }

  #sessionOf({ projectId }: Application, channel: string): RoomSession {
    const session = this.#rooms.sessions(projectId).find((each) => channelOf(each) === channel)
    if (session) return session
    throw new Refusal('404', 'event_channel: the room session does not exist')
  }

  /** Sends the events of a session to the applications of its project that subscribe to them. */
  #watch(session: RoomSession): void {
    const events = eventsIn(session)
    let hasStarted = false
    let layout = ''
    const isNew = (event: RoomEvent): boolean => {
      if (event.kind !== 'layout.changed') return true
      const before = layout
      // The layout of another viewer may have changed.
      layout = JSON.stringify(session.layoutFor())
      return layout !== before
    }
    session.listen((event) => {
      // A room that rejects its first caller has no session for applications.
      if (!hasStarted && event.kind !== 'member.joined') return
      if (!hasStarted) this.#send(session, events.started())
      hasStarted = true
      if (isNew(event)) for (const each of events.of(event)) this.#send(session, each)
      if (event.kind === 'room.ended')
        this.#subscriptions.endChannel(session.settings.projectId, channelOf(session))
    })
  }

  #send(session: RoomSession, { type, params }: VideoEvent): void {
    const applications = this.#subscriptions.wanting(session.settings.projectId, channelOf(session), type)
    if (applications.length === 0) return
    const made = params()
    for (const application of applications) application.emit(type, made, { isExpendable: true })
  }
}

/** Applications see the layout as a viewer without a camera sees it. */
const eventsIn = (session: RoomSession): VideoRoomEvents => new VideoRoomEvents(session)

const sendTo = (application: Application, { type, params }: VideoEvent): void =>
  application.emit(type, params(), { isExpendable: true })

const bodyOf = (session: RoomSession) => videoRoomBodies(session).room_session

/** Returns the names of events. The SDKs send the names of some events in their own spelling. */
const eventsOf = (params: Fields): readonly string[] =>
  params.list('events', maxNames, (value, path) => {
    const name = textOf(value, path)
    if (name.length > maxNameLength)
      throw new Refusal('400', `${path}: at most ${maxNameLength} characters`, path)
    return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  })
