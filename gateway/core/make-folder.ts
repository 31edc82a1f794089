import { accessSync, constants, mkdirSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Types of file systems without files of users: procfs and sysfs. */
const virtualSystems = new Set([0x9fa0, 0x62656572])

/**
 * Creates a folder with its parents, if it is missing. Throws an error with a reason in words. Node's own
 * recursive creation never ends below a folder such as `/proc`.
 */
export const makeFolder = (path: string, mode = 0o700): void => {
  const fault = folderFault(path)
  if (fault !== undefined) throw new Error(`The folder ${path} ${fault}.`)
  for (const missing of missingOf(path)) {
    try {
      mkdirSync(missing, { mode })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new Error(`The folder ${path} cannot be created: ${(error as Error).message}`, { cause: error })
    }
  }
}

/**
 * Returns why a folder cannot be created or written, as the end of a sentence. Creates nothing. Undefined for
 * a folder that exists or can be created.
 */
export const folderFault = (path: string): string | undefined => {
  const nearest = missingOf(path)[0] === undefined ? path : dirname(missingOf(path)[0] ?? path)
  const cannot = nearest === path ? 'cannot be used' : 'cannot be created'
  try {
    if (!statSync(nearest).isDirectory()) return `${cannot}: ${nearest} is a file`
    if (virtualSystems.has(statfsSync(nearest).type)) return `${cannot}: ${nearest} is a system folder`
    accessSync(nearest, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return `${cannot}: a part of its path is a file`
    if (code === 'EROFS') return `${cannot}: the file system is read-only`
    if (code === 'EACCES') return `${cannot}: this user may not write to ${nearest}`
    return `${cannot}: ${message}`
  }
}

/** Returns the missing folders of a path, the outermost first. */
const missingOf = (path: string): readonly string[] => {
  const missing: string[] = []
  for (let at = path; !exists(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at)
  return missing
}

/** A path below a file, or one that cannot be looked at, counts as existing: it cannot be created. */
const exists = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}
