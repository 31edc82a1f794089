import { verbFailed } from '../leg/failures.ts'

/** Maximum length of the name of a conference or a queue, in characters. */
const maxNameLength = 128

/** Returns the trimmed name of a conference or a queue. Throws VerbFailed `bad_name`. */
export const checkName = (name: string): string => {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > maxNameLength)
    throw verbFailed('bad_name', `name: expected 1 to ${maxNameLength} characters, found ${trimmed.length}`)
  return trimmed
}

/** Returns the key of a name within a project. */
export const projectKey = (projectId: string, name: string): string => `${projectId}\n${name}`

/** Whether a key belongs to the project. */
export const isProjectKey = (projectId: string, key: string): boolean => key.startsWith(`${projectId}\n`)
