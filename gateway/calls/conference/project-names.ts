import { verbFailed } from '../leg/failures.ts'

/** Longest name of a conference or a queue, in characters. */
const maxNameLength = 128

/** The name of a conference or a queue, as it is told apart from others. Throws VerbFailed `bad_name`. */
export const checkName = (name: string): string => {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > maxNameLength)
    throw verbFailed('bad_name', `name: expected 1 to ${maxNameLength} characters, found ${trimmed.length}`)
  return trimmed
}

/** Names are of a project. */
export const projectKey = (projectId: string, name: string): string => `${projectId}\n${name}`

/** Whether a key is one of that project. */
export const isProjectKey = (projectId: string, key: string): boolean => key.startsWith(`${projectId}\n`)
