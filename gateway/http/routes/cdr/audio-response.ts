import { parse } from 'node:path'
import type { FastifyReply } from 'fastify'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { RecordingRow } from '../../../directory/tables/recordings.ts'
import { typeOfFile } from '../../../recordings/member-files.ts'
import type { Recordings } from '../../../recordings/recordings.ts'

const types = { wav: 'audio/wav', mp3: 'audio/mpeg', webm: 'video/webm', mp4: 'video/mp4' } as const

/**
 * Sends the audio of a recording, as a whole or in ranges (RFC 9110 section 14). The site must have
 * `@fastify/static`. Throws `recording_in_progress` and `unknown_recording`.
 */
export const sendAudio = async (
  reply: FastifyReply,
  row: RecordingRow,
  folder: Pick<Recordings['folder'], 'sizeOf' | 'fileOf'>,
): Promise<FastifyReply> => {
  checkAudio(row, await folder.sizeOf(row))
  const { base, dir } = parse(folder.fileOf(row))
  return sendFile(reply, { name: base, folder: dir, type: types[row.format] })
}

/**
 * Sends a file of a member of a room, or the manifest of these files, as {@link sendAudio} does. Throws
 * `recording_in_progress`, and `unknown_recording` for any other name.
 */
export const sendMemberFile = (
  reply: FastifyReply,
  row: RecordingRow,
  name: string,
  folder: Pick<Recordings['folder'], 'membersOf'>,
): FastifyReply => {
  if (row.status === 'in-progress') throw new TrunklineError('recording_in_progress')
  const type = typeOfFile(row, name)
  if (type === undefined) throw new TrunklineError('unknown_recording', 'The recording has no such file.')
  return sendFile(reply, { name, folder: folder.membersOf(row), type })
}

const sendFile = (
  reply: FastifyReply,
  { name, folder, type }: { readonly name: string; readonly folder: string; readonly type: string },
): FastifyReply => {
  reply.headers({
    'content-disposition': `inline; filename="${name}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
  })
  return reply.type(type).sendFile(name, folder, { cacheControl: false, contentType: false })
}

/**
 * Throws unless the audio can be sent. `size`: size of the file in bytes; undefined if the file does not
 * exist.
 */
const checkAudio = (row: RecordingRow, size: number | undefined): void => {
  if (row.status === 'in-progress') throw new TrunklineError('recording_in_progress')
  if (row.bytes === 0) throw new TrunklineError('unknown_recording', 'The recording has no audio.')
  if (size === undefined)
    throw new TrunklineError('unknown_recording', 'The file of the recording does not exist.')
}
