import { open, rename, unlink } from 'node:fs/promises'

/** The operations on an open file that a recording needs, as in node:fs/promises. */
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

/** The file system operations that a recording needs. All reject with errors that have a `code`. */
export interface RecordingFiles {
  /** Creates a new file, readable for the owner and the group. */
  open(path: string): Promise<RecordingHandle>
  /** Renames atomically within a folder, replacing an existing file. */
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Synchronises a folder's entries to the disk. */
  syncFolder(path: string): Promise<void>
}

/** File mode of recordings: private to owner and group. */
const fileMode = 0o640

/** File system of the machine. */
export const diskFiles: RecordingFiles = {
  open: (path) => open(path, 'wx', fileMode),
  rename,
  unlink,
  syncFolder: async (path) => {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  },
}

/** Reason why a file could not be written. */
export interface FileFailure {
  /** Code as in errno (ENOSPC, EACCES, ENOENT, …), `too_slow`, or `encoder`. */
  readonly code: string
  readonly message: string
}

/** Converts an error of the file system. */
export function failureOf(error: unknown): FileFailure {
  const { code, message } = error as NodeJS.ErrnoException
  return { code: code ?? 'error', message }
}
