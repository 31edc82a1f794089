import { open, rename, unlink } from 'node:fs/promises'

/** What a recording needs of an open file; node:fs/promises has it. */
export interface RecordingHandle {
  write(
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>
  truncate(length: number): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/** What a recording needs of a file system. All reject with errors that have a `code`. */
export interface RecordingFiles {
  /** Makes a new file, readable for the owner and the group. */
  open(path: string): Promise<RecordingHandle>
  /** Atomic, within a folder; in place of what was there. */
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Brings the names in a folder to the disk. */
  syncFolder(path: string): Promise<void>
}

/** Recordings are private: owner and group only. */
const MODE = 0o640

/** The machine's file system. */
export const diskFiles: RecordingFiles = {
  open: (path) => open(path, 'wx', MODE),
  rename,
  unlink,
  syncFolder: async (path) => {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  },
}

/** Why a file could not be written. */
export interface FileFailure {
  /** As in errno (ENOSPC, EACCES, ENOENT, …), `too_slow`, or `encoder`. */
  readonly code: string
  readonly message: string
}

/** The failure in an error of the file system. */
export function failureOf(error: unknown): FileFailure {
  const { code, message } = error as NodeJS.ErrnoException
  return { code: code ?? 'error', message }
}
