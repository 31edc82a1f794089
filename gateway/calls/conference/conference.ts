import type { ConferenceEvent, ConferenceOptions, ConferenceResult } from '../../../handlers/verbs.ts'
import { beep } from '../../../media/record/beep.ts'
import type { MediaPort, Mixer, Prompt } from '../../../media/types.ts'
import { guard } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import type { RecordingStore, StoredRecording } from '../audio/recording-store.ts'
import type { CallParticipant } from './call-participant.ts'
import type { Participant } from './open-conferences.ts'

const defaultMaxParticipants = 100
/** Maximum number of other participants that a page receives. */
const maxReportedOthers = 100
const mixRate = 16_000

/** Collaborators of a {@link Conference}. */
export interface ConferenceDeps {
  readonly openMixer: () => Promise<Mixer>
  readonly recordings: RecordingStore
  readonly log: Log
}

/** Facts of a conference. Its options are those of the first participant. */
export interface ConferenceFacts {
  readonly id: string
  readonly name: string
  readonly projectId: string
  /** ms since the epoch. */
  readonly openedAt: number
  readonly options: Pick<
    ConferenceOptions,
    'maxParticipants' | 'record' | 'trim' | 'onRecording' | 'onRecorded' | 'recordingStatusTarget' | 'onEvent'
  >
  /** Called once when the last participant has left. */
  readonly onClosed: () => void
}

/** Reason for which a participant leaves. */
export type LeaveKind = ConferenceResult['kind']

/**
 * Calls whose callers hear each other. The conference owns the mixer, and each {@link CallParticipant} its
 * own part in the mix.
 */
export class Conference {
  readonly facts: ConferenceFacts
  readonly #deps: ConferenceDeps
  readonly #mixer: Mixer
  readonly #participants = new Set<CallParticipant>()
  #recording: StoredRecording | undefined
  #isStarted = false
  #isClosed = false
  #sequence = 0

  private constructor(deps: ConferenceDeps, facts: ConferenceFacts, mixer: Mixer) {
    this.#deps = deps
    this.facts = facts
    this.#mixer = mixer
  }

  /** Opens a conference. Rejects if the edge has no mixer. */
  static async open(deps: ConferenceDeps, facts: ConferenceFacts): Promise<Conference> {
    const conference = new Conference(deps, facts, await deps.openMixer())
    // The mixer's thread has died: no audio is left.
    void conference.#mixer.closed.then(() => conference.end())
    conference.#mixer.onSpeaker((port) => conference.#speaks(port))
    return conference
  }

  get id(): string {
    return this.facts.id
  }

  get name(): string {
    return this.facts.name
  }

  /** ms since the epoch. */
  get openedAt(): number {
    return this.facts.openedAt
  }

  get participants(): readonly Participant[] {
    return [...this.#participants]
  }

  /** Whether the last participant has left. No call can join it then. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  get size(): number {
    return this.#participants.size
  }

  get isFull(): boolean {
    return this.size >= (this.facts.options.maxParticipants ?? defaultMaxParticipants)
  }

  /** Whether the participants hear each other; until then they wait. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** Whether a participant is in the conference. */
  has(participant: CallParticipant): boolean {
    return this.#participants.has(participant)
  }

  join(participant: CallParticipant): void {
    const { beepOn = 'both' } = participant.options
    if (this.#isStarted && (beepOn === 'both' || beepOn === 'enter')) this.#beep()
    this.#participants.add(participant)
    this.report('join', participant)
    if (this.#isStarted) this.#updateMix(participant)
    else if (this.size > 1 && this.#any(({ options }) => options.startOnEnter ?? true)) this.#start()
    this.#updateCoaches()
    this.#reportOthers()
  }

  leave(participant: CallParticipant): void {
    if (!this.#participants.delete(participant)) return
    const { beepOn = 'both', endOnExit } = participant.options
    if (participant.port) this.#mixer.remove(participant.port)
    participant.call.caller.gathered([])
    this.#reportOthers()
    if (this.#isStarted && this.size > 0 && (beepOn === 'both' || beepOn === 'exit')) this.#beep()
    this.report('leave', participant)
    if (this.size === 0) this.#close()
    else if (endOnExit) this.end()
    else this.#updateCoaches()
  }

  /** Handles a change of a participant or of its leg. `before`: the port of the former leg. */
  changed(participant: CallParticipant, before?: MediaPort): void {
    if (before) {
      this.#mixer.remove(before)
      this.#reportOthers()
    }
    if (this.#isStarted && this.has(participant)) this.#updateMix(participant)
    this.#updateCoaches()
  }

  /** Reports an event to the first participant's handler. */
  report(kind: ConferenceEvent['kind'], about?: CallParticipant): void {
    const { id: conferenceId, name, options } = this.facts
    const listener = () =>
      options.onEvent?.({
        kind,
        conferenceId,
        name,
        sequence: this.#sequence++,
        size: this.size,
        ...(about && { callId: about.call.id }),
        isMuted: about?.isMuted ?? false,
        isHeld: about?.isHeld ?? false,
      })
    const { log } = this.#deps
    guard(listener, (err) =>
      log.error({ event: 'conference.listener-failed', err }, 'event listener of a conference failed'),
    )()
  }

  /** Reports the other participants to each page. */
  #reportOthers(): void {
    const callers = [...this.#participants].map(({ call }) => call.caller)
    const reported = callers.slice(0, maxReportedOthers + 1)
    for (const caller of callers) {
      if (!caller.followsConference) continue
      caller.gathered(reported.filter((other) => other !== caller).slice(0, maxReportedOthers))
    }
  }

  #speaks(port: MediaPort | undefined): void {
    for (const participant of this.#participants)
      if (port && participant.port === port) this.report('speaker', participant)
  }

  /** Removes all participants. */
  end(): void {
    for (const participant of [...this.#participants]) participant.end('ended')
  }

  #start(): void {
    this.#isStarted = true
    this.report('start')
    this.#record()
    for (const participant of this.#participants) {
      participant.started()
      this.#updateMix(participant)
    }
  }

  #any(test: (participant: CallParticipant) => boolean): boolean {
    for (const participant of this.#participants) if (test(participant)) return true
    return false
  }

  /** Adds a participant to the mixer, or removes it while it is held and hears music. */
  #updateMix(participant: CallParticipant): void {
    const { port, isHeld, isMuted, options } = participant
    if (!port) return
    if (isHeld) {
      this.#mixer.remove(port)
      return
    }
    const coached = options.coach === undefined ? undefined : this.#portOf(options.coach)
    this.#mixer.add(port, {
      canSpeak: !isMuted,
      ...(options.coach !== undefined && { audibleTo: coached ? [coached] : [] }),
    })
  }

  /** Updates the coaches after their participant has come, left, or got another port. */
  #updateCoaches(): void {
    if (!this.#isStarted) return
    for (const participant of this.#participants)
      if (participant.options.coach !== undefined) this.#updateMix(participant)
  }

  #portOf(callId: string): MediaPort | undefined {
    for (const { call, port } of this.#participants) if (call.id === callId) return port
    return undefined
  }

  #beep(): void {
    const prompt: Prompt = { sampleRate: mixRate, samples: beep(mixRate) }
    this.#mixer.play({ prompt })
  }

  #record(): void {
    const { projectId, options, id: conferenceId } = this.facts
    const [first] = this.#participants
    if (!options.record || !first) return
    const { call } = first
    try {
      this.#recording = this.#deps.recordings.start(this.#mixer, {
        projectId,
        callId: call.id,
        legId: call.caller.id,
        source: 'Conference',
        conferenceId,
        ...(options.recordingStatusTarget && { status: options.recordingStatusTarget }),
        request: { format: 'wav', tracks: 'in', sampleRate: mixRate, trim: options.trim ?? true },
      })
      const { id, url } = this.#recording
      this.#guard(() => options.onRecording?.({ id, url }))
      void this.#recorded(this.#recording)
    } catch (error) {
      this.#deps.log.warn(
        { event: 'conference.recording-failed', conference: conferenceId, reason: String(error) },
        'conference not recorded',
      )
    }
  }

  async #recorded({ id, url, done }: StoredRecording): Promise<void> {
    const { end, durationMs, hasFile, bytes } = await done
    const reason = end.kind === 'error' ? 'error' : 'stopped'
    const recorded = { id, url, durationMs, bytes: hasFile ? bytes : 0, reason } as const
    this.#guard(() => this.facts.options.onRecorded?.(recorded))
  }

  #guard(report: () => void): void {
    const { log } = this.#deps
    guard(report, (err) =>
      log.error(
        { event: 'conference.recording-listener-failed', err },
        'recording listener of a conference failed',
      ),
    )()
  }

  #close(): void {
    this.#isClosed = true
    this.report('end')
    this.#recording?.stop()
    void this.#mixer.close()
    this.facts.onClosed()
  }
}
