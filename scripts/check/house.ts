/** Rules of the house that the linter cannot express. */

/** Maximum length of a product file, in lines as {@link codeLines} counts them. */
export const longestFile = 400

/** Maximum length of a file of tests, counted in the same way. */
export const longestTestFile = 500

/** Number of lines of a source file without its imports, re-exports and lines of comments. */
export const codeLines = (source: string): number =>
  source
    .replace(/^(?:import|export (?:type )?[*{])[^;']*'[^'\n]+'(?: with \{[^}]*\})?\n/gm, '')
    .replace(/^[ \t]*\/\*[\s\S]*?\*\/[ \t]*\n/gm, '')
    .replace(/^[ \t]*\/\/.*\n/gm, '')
    .trimEnd()
    .split('\n').length

/** Names that a module exports without a doc comment right above, as `line: name`. */
export const undocumented = (source: string): string[] => {
  const lines = source.split('\n')
  const declaration =
    /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) +([A-Za-z_$][\w$]*)/
  return lines.flatMap((line, at) => {
    const name = declaration.exec(line)?.[1]
    // Overloads and a type beside a value of the same name share the first one's comment.
    const shared =
      name !== undefined && lines.slice(0, at).some((earlier) => declaration.exec(earlier)?.[1] === name)
    return name && !shared && !lines[at - 1]?.trimEnd().endsWith('*/') ? [`${at + 1}: ${name}`] : []
  })
}
