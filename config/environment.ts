/** A text after its variables were replaced, and the names of those that are not set. */
export interface Replaced {
  readonly text: string
  readonly missing: readonly string[]
}

/**
 * Replaces `${NAME}` and `${NAME:-default}`; the default also stands for an empty variable, as in a shell.
 * `$${` is a plain `${`. In documents only names without lower-case letters are variables: the rest belongs
 * to the document's own language.
 */
export const replaceVariables = (
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  inDocument: boolean,
): Replaced => {
  const missing: string[] = []
  const replaced = text.replace(
    /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?(\}?)/g,
    (whole, escaped: string | undefined, name = '', fallback: string | undefined, end = '') => {
      if (escaped !== undefined) return escaped
      // Taken whole although nothing closes it: the search goes on behind it, and so stays linear.
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
