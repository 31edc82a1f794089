/** Reasons of the system, as the end of a sentence. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  EMFILE: 'too many files are open',
  EIO: 'the disk does not work',
}

/** Returns the line that reports the failure of a command. System errors are explained in words. */
export const errorLine = (error: unknown): string => {
  const { message, code, syscall, path } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException
  if (message === undefined) return `trunkline: ${String(error)}`
  const reason = reasons[code ?? '']
  if (reason === undefined || syscall === undefined) return `trunkline: ${message}`
  return `trunkline: ${path === undefined ? '' : `${path}: `}${reason} (${code}, ${syscall})`
}
