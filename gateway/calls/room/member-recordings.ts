import type { MediaPort, RecordingEnd, RoomVideo, TrackRecording, WebRtc } from '../../../media/types.ts'
import type { Log } from '../../core/log.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { RoomMember } from '../../rooms/room-types.ts'
import type {
  ManifestMember,
  ManifestMoment,
  MemberFile,
  MemberPlace,
  RecordingManifest,
} from '../audio/recording-store.ts'
import type { RecordedTime } from './recorded-time.ts'

/** Maximum number of files of one recording. */
const maxFiles = 500
/** Maximum number of moments of the time line: one every 5 s for 7 hours. */
const maxMoments = 5_000

/** Room whose members are recorded. */
export interface RecordedRoom {
  readonly session: RoomSession
  readonly video: RoomVideo
  /** Returns the sound of a member; undefined if it has none. */
  readonly portOf: (memberId: string) => MediaPort | undefined
}

/** Collaborators of {@link MemberRecordings}. */
export interface MemberRecordingsDeps {
  readonly webrtc: Pick<WebRtc, 'recordPicture' | 'recordSound'>
  readonly place: MemberPlace
  /** Time in the file of the room. */
  readonly time: RecordedTime
  readonly log: Log
}

/** Sound file in progress, with the port that the sound comes from. */
interface OpenSound {
  readonly recording: TrackRecording
  readonly port: MediaPort
}

/**
 * Files of the members of one recording of a room: the camera, the screen and the sound of each member. A
 * manifest describes them. A file ends when the member leaves. Muted sound and video are not
 * recorded. Pauses are left out of all files, as they are left out of the file of the room.
 */
export class MemberRecordings {
  /** Settles when all files are complete, after {@link stop}. Never rejects. */
  readonly done: Promise<void>
  readonly #room: RecordedRoom
  readonly #deps: MemberRecordingsDeps
  /** Files in progress by the id of their member. */
  readonly #pictures = new Map<string, TrackRecording>()
  readonly #sounds = new Map<string, OpenSound>()
  readonly #members = new Map<string, ManifestMember>()
  readonly #files: MemberFile[] = []
  readonly #moments: ManifestMoment[] = []
  readonly #ended: Promise<unknown>[] = []
  readonly #unlisten: () => void
  #isTruncated = false
  #isStopped = false
  #isUpdateDue = false
  readonly #settle: (done: Promise<void>) => void

  constructor(room: RecordedRoom, deps: MemberRecordingsDeps) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.done = promise
    this.#settle = resolve
    this.#room = room
    this.#deps = deps
    this.#unlisten = room.session.listen(({ kind }) => {
      if (kind !== 'member.talking') this.update()
    })
    this.#updateNow()
    this.#save()
  }

  /** Begins and ends files as the members and their media are, once for all changes of one moment. */
  update(): void {
    if (this.#isUpdateDue) return
    this.#isUpdateDue = true
    queueMicrotask(() => {
      this.#isUpdateDue = false
      try {
        this.#updateNow()
      } catch (err) {
        this.#deps.log.error({ event: 'room.member-files-failed', err }, 'files of members not updated')
      }
    })
  }

  #updateNow(): void {
    if (this.#isStopped) return
    const files = this.#files.length
    const members = this.#members.size
    const present = this.#room.session.members
    this.#endFiles(new Set(present.map(({ id }) => id)))
    for (const member of present) {
      this.#know(member)
      this.#updatePicture(member)
      this.#updateSound(member)
    }
    const isMoment = this.#addMoment()
    if (isMoment || this.#files.length > files || this.#members.size > members) this.#save()
  }

  pause(): void {
    this.#deps.time.pause()
    for (const recording of this.#open) recording.pause()
  }

  resume(): void {
    this.#deps.time.resume()
    for (const recording of this.#open) recording.resume()
    this.#updateNow()
  }

  /** Ends all files. Idempotent. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#unlisten()
    this.#endFiles(new Set())
    this.#save()
    this.#settle(Promise.all(this.#ended).then(() => undefined))
  }

  #know({ id, name, type, parentId }: RoomMember): void {
    if (this.#members.has(id)) return
    this.#members.set(id, { id, name, type, ...(parentId !== undefined && { parent_id: parentId }) })
  }

  get #open(): readonly TrackRecording[] {
    return [...this.#pictures.values(), ...[...this.#sounds.values()].map(({ recording }) => recording)]
  }

  /** Ends the files of members that are not `present`, and of sounds that come from another port now. */
  #endFiles(present: ReadonlySet<string>): void {
    for (const [id, recording] of this.#pictures) {
      if (present.has(id)) continue
      this.#pictures.delete(id)
      recording.stop()
    }
    for (const [id, { recording, port }] of this.#sounds) {
      if (present.has(id) && this.#room.portOf(id) === port) continue
      this.#sounds.delete(id)
      recording.stop()
    }
  }

  #updatePicture({ id, isVisible, type }: RoomMember): void {
    const known = this.#pictures.get(id)
    known?.setMuted(!isVisible)
    if (known || !isVisible) return
    const picture = this.#start(id, type === 'screen' ? 'screen' : 'camera', (pathOf) =>
      this.#deps.webrtc.recordPicture(this.#room.video, id, { pathOf }),
    )
    if (picture) this.#pictures.set(id, picture)
  }

  #updateSound({ id, media, state, isOnHold }: RoomMember): void {
    const port = this.#room.portOf(id)
    if (!port || !media.canSpeak) return
    const recording =
      this.#sounds.get(id)?.recording ??
      this.#start(id, 'audio', (pathOf) => this.#deps.webrtc.recordSound(port, { pathOf }))
    if (!recording) return
    this.#sounds.set(id, { recording, port })
    recording.setMuted(state.audio_muted || isOnHold)
  }

  /** Begins a file. Returns undefined if there are too many. */
  #start(
    memberId: string,
    kind: MemberFile['kind'],
    open: (pathOf: (format: TrackRecording['format']) => string) => TrackRecording,
  ): TrackRecording | undefined {
    if (this.#files.length >= maxFiles) {
      this.#isTruncated = true
      return undefined
    }
    const base = `${String(this.#files.length + 1).padStart(3, '0')}-${kind}`
    const start = this.#deps.time.seconds
    const recording = open((format) => this.#deps.place.pathOf(`${base}.${format}`))
    const name = `${base}.${recording.format}`
    this.#files.push({ name, member_id: memberId, kind, start })
    if (this.#deps.time.isPaused) recording.pause()
    this.#ended.push(recording.done.then(({ end }) => this.#over(name, end)))
    return recording
  }

  #over(file: string, end: RecordingEnd): void {
    if (end.kind !== 'error') return
    const { code: errno, message: detail } = end
    this.#deps.log.error({ event: 'room.member-file-failed', file, errno, detail }, 'file of a member failed')
  }

  /** Adds what has changed of the layout and the speaker. Returns whether anything has. */
  #addMoment(): boolean {
    if (this.#moments.length >= maxMoments) {
      this.#isTruncated = true
      return false
    }
    const { session } = this.#room
    const moment: ManifestMoment = {
      at: this.#moments.length === 0 ? 0 : this.#deps.time.seconds,
      layout: session.layoutName,
      speaker: session.speakers[0] ?? null,
      layers: session
        .layoutFor()
        .layers.flatMap(({ memberId, x, y, width, height }) =>
          memberId === undefined ? [] : [{ member_id: memberId, x, y, width, height }],
        ),
    }
    const last = this.#moments.at(-1)
    if (last && JSON.stringify({ ...moment, at: last.at }) === JSON.stringify(last)) return false
    // What changes at the same time, also in a pause, is one moment.
    if (last?.at === moment.at) this.#moments.pop()
    this.#moments.push(moment)
    return true
  }

  #save(): void {
    const { id, settings } = this.#room.session
    const manifest: RecordingManifest = {
      room_session_id: id,
      room_name: settings.name,
      started_at: new Date(this.#deps.time.startedAt).toISOString(),
      members: [...this.#members.values()],
      files: [...this.#files],
      timeline: [...this.#moments],
      is_truncated: this.#isTruncated,
    }
    this.#deps.place.save(manifest)
  }
}
