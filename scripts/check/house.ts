/** What the linter cannot express of the rules of the house. */

/** Longest permitted file, in lines. */
export const longestFile = 500

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
