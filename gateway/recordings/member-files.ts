import { extname } from 'node:path'
import type { MemberFile } from '../calls/audio/recording-store.ts'
import type { RecordingRow } from '../directory/tables/recordings.ts'

/** Name of the file that describes the files of the members. */
export const manifestName = 'manifest.json'

/** Returns the files of the members of an ended recording. */
export const filesOf = ({ files_json: json }: Pick<RecordingRow, 'files_json'>): readonly MemberFile[] =>
  json === null ? [] : (JSON.parse(json) as readonly MemberFile[])

/** Returns the media type of a file of a member. */
export const memberFileType = (name: string, kind: MemberFile['kind']): string => {
  if (extname(name) === '.wav') return 'audio/wav'
  return kind === 'audio' ? 'audio/webm' : 'video/webm'
}

/**
 * Returns the media type of a file beside the file of a recording: that of a member, or the manifest.
 * Undefined if the recording has no file of this name.
 */
export const typeOfFile = (row: Pick<RecordingRow, 'files_json'>, name: string): string | undefined => {
  const files = filesOf(row)
  if (name === manifestName && files.length > 0) return 'application/json'
  const file = files.find((each) => each.name === name)
  return file && memberFileType(file.name, file.kind)
}
