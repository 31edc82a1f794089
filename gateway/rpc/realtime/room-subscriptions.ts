import { Refusal } from '../../calling/operations/command-fields.ts'
import type { Application } from './application.ts'

/** Channel of all sessions of a project. */
export const allRooms = 'video.rooms'

/** Maximum number of sessions that an application subscribes to at once. */
const maxChannels = 1_000
/** Maximum number of event names that an application subscribes to in one channel. */
const maxEvents = 100

/** Events of one application, by channel. */
type Channels = Map<string, Set<string>>

/** Subscriptions of applications to the events of rooms. */
export class RoomSubscriptions {
  /** By project, so that an event meets the applications of its project alone. */
  readonly #projects = new Map<string, Map<Application, Channels>>()

  /** Number of channels of all applications. */
  get size(): number {
    let size = 0
    for (const applications of this.#projects.values())
      for (const channels of applications.values()) size += channels.size
    return size
  }

  /** Returns the events that an application subscribes to in a channel; undefined without a subscription. */
  events(application: Application, channel: string): ReadonlySet<string> | undefined {
    return this.#projects.get(application.projectId)?.get(application)?.get(channel)
  }

  /** Adds events of a channel. Throws 400 beyond 1,000 channels or 100 events of a channel. */
  add(application: Application, channel: string, events: readonly string[]): void {
    const { projectId } = application
    const present = this.#projects.get(projectId)?.get(application)
    const all = new Set([...(present?.get(channel) ?? []), ...events])
    if (all.size > maxEvents) throw new Refusal('400', `events: at most ${maxEvents} of a channel`)
    if (present && !present.has(channel) && present.size >= maxChannels)
      throw new Refusal('400', `event_channel: at most ${maxChannels} channels at once`)
    const applications = this.#projects.get(projectId) ?? new Map<Application, Channels>()
    const channels = present ?? new Map<string, Set<string>>()
    this.#projects.set(projectId, applications.set(application, channels.set(channel, all)))
  }

  /** Removes events of a channel; without `events`, all. */
  remove(application: Application, channel: string, events?: readonly string[]): void {
    const channels = this.#projects.get(application.projectId)?.get(application)
    const present = channels?.get(channel)
    if (!channels || !present) return
    for (const name of events ?? [...present]) present.delete(name)
    if (present.size === 0) channels.delete(channel)
    if (channels.size === 0) this.forget(application)
  }

  /** Removes a channel that has ended from all applications of a project. */
  endChannel(projectId: string, channel: string): void {
    for (const application of [...(this.#projects.get(projectId)?.keys() ?? [])])
      this.remove(application, channel)
  }

  /** Removes all subscriptions of an application. */
  forget(application: Application): void {
    const { projectId } = application
    const applications = this.#projects.get(projectId)
    applications?.delete(application)
    if (applications?.size === 0) this.#projects.delete(projectId)
  }

  /** Returns the applications of a project that subscribe to an event of a session's channel. */
  wanting(projectId: string, channel: string, event: string): readonly Application[] {
    const wanting: Application[] = []
    for (const [application, channels] of this.#projects.get(projectId) ?? [])
      if (channels.get(channel)?.has(event) || channels.get(allRooms)?.has(event)) wanting.push(application)
    return wanting
  }
}
