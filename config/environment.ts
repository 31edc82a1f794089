/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Text with replaced variables, and the names of variables that are not set. */
export interface Replaced {
  readonly text: string
  readonly missing: readonly string[]
}

/**
 * Replaces `${NAME}` and `${NAME:-default}`. As in a shell, the default also replaces an empty variable.
 * `$${` becomes `${`. `inDocument`: whether the text is a document. In a document, only names without
 * lower-case letters are variables; other placeholders belong to the document's language.
 */
export const replaceVariables = (text: string, env: Environment, inDocument: boolean): Replaced => {
  const missing: string[] = []
  const replaced = text.replace(
    /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?(\}?)/g,
    (whole, escaped: string | undefined, name = '', fallback: string | undefined, end = '') => {
      if (escaped !== undefined) return escaped
      // Matching an unclosed placeholder keeps the search linear: it continues after the match.
      if (end === '') return whole
      if (inDocument && /[a-z]/.test(name)) return whole
      const value = env[name]
      if (value !== undefined && (value !== '' || fallback === undefined)) return value
      if (fallback === undefined) missing.push(name)
      return fallback ?? ''
    },
  )
  return { text: replaced, missing }
}

/** Returns the environment of the process with more variables, for a program that it starts. */
export const withVariables = (more: Environment): NodeJS.ProcessEnv => ({ ...process.env, ...more })

/** Returns the socket for notifications of systemd (sd_notify(3)); undefined outside of such a service. */
export const notifySocket = (env: Environment = process.env): string | undefined =>
  env.NOTIFY_SOCKET || undefined
