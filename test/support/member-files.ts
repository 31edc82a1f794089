/** Recordings with the files of their members, saved for a decoder. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordingManifest } from '../../gateway/calls/audio/recording-store.ts'
import type { Gateway } from './gateway.ts'
import { type CompleteRecording, completeRecording, type MemberFileLink } from './room-recording.ts'

/** Saved file of a member. */
export interface SavedFile extends MemberFileLink {
  readonly path: string
  /** Time of its start in the recording, in ms. */
  readonly startMs: number
}

/** Recording whose files are saved. */
export interface SavedRecording {
  readonly recording: CompleteRecording
  readonly manifest: RecordingManifest
  /** Path of the file of the room. */
  readonly room: string
  readonly files: readonly SavedFile[]
}

/** Waits until a recording is complete, and saves its files in a folder. */
export const saveRecording = async (
  gateway: Gateway,
  id: string,
  folder: string,
): Promise<SavedRecording> => {
  const recording = await completeRecording(gateway, id)
  const save = async (name: string, uri: string): Promise<string> => {
    const path = join(folder, name)
    writeFileSync(path, Buffer.from(await (await fetch(uri)).arrayBuffer()))
    return path
  }
  const saveFile = async (file: MemberFileLink): Promise<SavedFile> => ({
    ...file,
    path: await save(file.name, file.uri),
    startMs: file.start * 1000,
  })
  if (recording.manifest_uri === null) throw new Error('files of members expected')
  return {
    recording,
    manifest: (await (await fetch(recording.manifest_uri)).json()) as RecordingManifest,
    room: await save('room.webm', recording.uri),
    files: await Promise.all(recording.files.map(saveFile)),
  }
}

/** Returns the file of a kind of a member. Throws unless there is one alone. */
export const memberFile = (
  { files }: SavedRecording,
  memberId: string,
  kind: MemberFileLink['kind'],
): SavedFile => {
  const found = files.filter((file) => file.member_id === memberId && file.kind === kind)
  if (found.length !== 1) throw new Error(`one file ${kind} of ${memberId} expected, not ${found.length}`)
  return found[0]!
}
