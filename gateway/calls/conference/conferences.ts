import { randomUUID } from 'node:crypto'
import type { ConferenceOptions, ConferenceResult } from '../../../handlers/verbs.ts'
import type { Mixer } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { RecordingStore } from '../audio/recording-store.ts'
import type { WaitingAudio } from '../audio/waiting-audio.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import { failureOf } from '../leg/failures.ts'
import { CallParticipant } from './call-participant.ts'
import { Conference } from './conference.ts'
import type { OpenConference } from './open-conferences.ts'
import { checkName, isProjectKey, projectKey } from './project-names.ts'

/** Collaborators of {@link ProjectConferences}. */
export interface ConferencesDeps {
  readonly waitingAudio: WaitingAudio
  readonly openMixer: () => Promise<Mixer>
  readonly recordings: RecordingStore
  readonly clock: Clock
  readonly log: Log
}

/** Conferences of all projects. A conference exists while it has a participant. */
export class ProjectConferences {
  readonly #deps: ConferencesDeps
  /** Promises, so that two callers who join at the same time share a conference. */
  readonly #conferences = new Map<string, Promise<Conference>>()

  constructor(deps: ConferencesDeps) {
    this.#deps = deps
  }

  /** Number of conferences in progress. */
  get count(): number {
    return this.#conferences.size
  }

  /** Returns the open conferences of a project. */
  async of(projectId: string): Promise<readonly OpenConference[]> {
    const conferences = [...this.#conferences]
      .filter(([key]) => isProjectKey(projectId, key))
      .map(([, opening]) => opening)
    const settled = await Promise.allSettled(conferences)
    const open = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    return open.filter(({ isClosed }) => !isClosed)
  }

  /** Runs `CallControl.joinConference`; `control` is the caller's. Settles when the caller has left. */
  async join(call: Call, control: ScopableControl, options: ConferenceOptions): Promise<ConferenceResult> {
    const name = checkName(options.name)
    await call.openAudio(true, options.signal)
    const key = projectKey(call.info.projectId, name)
    const conference = await this.#conference(key, name, call, options)
    if (conference.isFull) return { kind: 'full', conferenceId: conference.facts.id, durationMs: 0 }
    return new CallParticipant(this.#deps, conference, { call, control, options }).run()
  }

  async #conference(key: string, name: string, call: Call, options: ConferenceOptions): Promise<Conference> {
    const { projectId } = call.info
    const onClosed = () => this.#conferences.delete(key)
    for (;;) {
      const openedAt = this.#deps.clock.now()
      const facts = { id: randomUUID(), name, projectId, openedAt, options, onClosed }
      const opening = this.#conferences.get(key) ?? Conference.open(this.#deps, facts)
      this.#conferences.set(key, opening)
      try {
        const conference = await opening
        // The last participant may have left meanwhile.
        if (!conference.isClosed) return conference
      } catch (error) {
        this.#conferences.delete(key)
        throw failureOf(error, 'conference_failed')
      }
    }
  }
}
