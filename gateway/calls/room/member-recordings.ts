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
/** Maximum number of moments of the time line: one every 2 s for 11 hours. */
const maxMoments = 20_000

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

/** File in progress. */
interface OpenFile {
  readonly recording: TrackRecording
  readonly memberId: string
  /** Port that a sound comes from; undefined for a picture. */
  readonly port?: MediaPort
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
  readonly #time: RecordedTime
  readonly #open = new Set<OpenFile>()
  readonly #members = new Map<string, ManifestMember>()
  readonly #files: MemberFile[] = []
  readonly #moments: ManifestMoment[] = []
  readonly #ended: Promise<unknown>[] = []
  readonly #unlisten: () => void
  #isTruncated = false
  #isStopped = false
  readonly #settle: (done: Promise<void>) => void

  constructor(room: RecordedRoom, deps: MemberRecordingsDeps) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.done = promise
    this.#settle = resolve
    this.#room = room
    this.#deps = deps
    this.#time = deps.time
    this.#unlisten = room.session.listen(({ kind }) => {
      if (kind !== 'member.talking') this.update()
    })
    this.update()
    this.#save()
  }

  /** Begins and ends files as the members and their media are now. */
  update(): void {
    if (this.#isStopped) return
    const files = this.#files.length
    const members = this.#members.size
    const present = this.#room.session.members
    for (const file of [...this.#open]) {
      const member = present.find(({ id }) => id === file.memberId)
      if (!member || (file.port && this.#room.portOf(member.id) !== file.port)) this.#close(file)
    }
    for (const member of present) {
      this.#know(member)
      this.#updatePicture(member)
      this.#updateSound(member)
    }
    const isMoment = this.#addMoment()
    if (isMoment || this.#files.length > files || this.#members.size > members) this.#save()
  }

  pause(): void {
    this.#time.pause()
    for (const { recording } of this.#open) recording.pause()
  }

  resume(): void {
    this.#time.resume()
    for (const { recording } of this.#open) recording.resume()
    this.update()
  }

  /** Ends all files. Idempotent. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#unlisten()
    for (const file of [...this.#open]) this.#close(file)
    this.#save()
    this.#settle(Promise.all(this.#ended).then(() => undefined))
  }

  #know({ id, name, type, parentId }: RoomMember): void {
    if (this.#members.has(id)) return
    this.#members.set(id, { id, name, type, ...(parentId !== undefined && { parent_id: parentId }) })
  }

  #updatePicture(member: RoomMember): void {
    const { id, isVisible, type } = member
    const known = [...this.#open].find(({ memberId, port }) => memberId === id && !port)
    if (known) known.recording.setMuted(!isVisible)
    else if (isVisible)
      this.#start(member, type === 'screen' ? 'screen' : 'camera', (pathOf) => ({
        recording: this.#deps.webrtc.recordPicture(this.#room.video, id, { pathOf }),
        memberId: id,
      }))
  }

  #updateSound(member: RoomMember): void {
    const port = this.#room.portOf(member.id)
    if (!port || !member.media.canSpeak) return
    const known = [...this.#open].find((file) => file.memberId === member.id && file.port)
    const file =
      known ??
      this.#start(member, 'audio', (pathOf) => ({
        recording: this.#deps.webrtc.recordSound(port, { pathOf }),
        memberId: member.id,
        port,
      }))
    file?.recording.setMuted(member.state.audio_muted || member.isOnHold)
  }

  /** Begins a file. Returns undefined if there are too many. */
  #start(
    { id }: RoomMember,
    kind: MemberFile['kind'],
    open: (pathOf: (format: TrackRecording['format']) => string) => OpenFile,
  ): OpenFile | undefined {
    if (this.#files.length >= maxFiles) {
      this.#isTruncated = true
      return undefined
    }
    const base = `${String(this.#files.length + 1).padStart(3, '0')}-${kind}`
    const start = this.#time.seconds
    const file = open((format) => this.#deps.place.pathOf(`${base}.${format}`))
    const name = `${base}.${file.recording.format}`
    this.#files.push({ name, member_id: id, kind, start })
    if (this.#time.isPaused) file.recording.pause()
    this.#open.add(file)
    this.#ended.push(file.recording.done.then(({ end }) => this.#over(name, end)))
    return file
  }

  #over(file: string, end: RecordingEnd): void {
    if (end.kind !== 'error') return
    const { code: errno, message: detail } = end
    this.#deps.log.error({ event: 'room.member-file-failed', file, errno, detail }, 'file of a member failed')
  }

  #close(file: OpenFile): void {
    this.#open.delete(file)
    file.recording.stop()
  }

  /** Adds what has changed of the layout and the speaker. Returns whether anything has. */
  #addMoment(): boolean {
    const { session } = this.#room
    const moment: ManifestMoment = {
      at: this.#moments.length === 0 ? 0 : this.#time.seconds,
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
    if (this.#moments.length < maxMoments) this.#moments.push(moment)
    else this.#isTruncated = true
    return true
  }

  #save(): void {
    const { id, settings } = this.#room.session
    const manifest: RecordingManifest = {
      room_session_id: id,
      room_name: settings.name,
      started_at: new Date(this.#time.startedAt).toISOString(),
      members: [...this.#members.values()],
      files: [...this.#files],
      timeline: [...this.#moments],
      is_truncated: this.#isTruncated,
    }
    this.#deps.place.save(manifest)
  }
}
