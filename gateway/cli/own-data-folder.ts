import { statSync } from 'node:fs'
import { makeFolder } from '../core/make-folder.ts'

/**
 * Creates the data folder of a command that writes there, if it is missing. Throws if root runs the command
 * and the folder belongs to another user. `user`: id of the user that runs the command.
 */
export const makeOwnDataFolder = (folder: string, user = process.getuid?.()): void => {
  makeFolder(folder)
  checkDataOwner(folder, user)
}

/** Throws as {@link makeOwnDataFolder} does. Creates nothing. */
export const checkDataOwner = (folder: string, user = process.getuid?.()): void => {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? 0
  if (user !== 0 || owner === 0) return
  throw new Error(
    `The data folder ${folder} belongs to the user with id ${owner}, who could not use the files of root. ` +
      `Run the command as that user: sudo -u '#${owner}' trunkline …`,
  )
}
