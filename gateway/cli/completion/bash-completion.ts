import type { Command } from '../command.ts'
import { type CompletedValue, globalOptions, namedOptions, quoted, wordsOf } from './completion-words.ts'

/** Returns the completion script for bash. */
export const bashScript = (commands: readonly Command[]): string => {
  const names = [...commands.map(({ name }) => name), ...globalOptions.map(([name]) => name)]
  return `# Completion of trunkline for bash, printed by \`trunkline completion bash\`.
_trunkline_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_trunkline_paths() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}
_trunkline() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= position=0 index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case \${COMP_WORDS[index]} in
      ${optionsWithValue(commands).join('|')}) ((index++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=\${COMP_WORDS[index]}; else ((position++)); fi ;;
    esac
  done
  case $command in
    '') _trunkline_words ${quoted(names.join(' '))} ;;
${commands.map((command) => commandCase(command, commands)).join('\n')}
  esac
}
complete -F _trunkline trunkline
`
}

/** Returns the names of the options whose next word is their value. */
const optionsWithValue = (commands: readonly Command[]): readonly string[] => [
  ...new Set(
    commands
      .flatMap(namedOptions)
      .filter(([, { value }]) => value !== undefined)
      .map(([name]) => name),
  ),
]

const commandCase = (command: Command, commands: readonly Command[]): string => {
  const options = namedOptions(command)
  const names = [...options.map(([name]) => name), '--help'].join(' ')
  return [
    `    ${command.name})`,
    '      case $previous in',
    ...options
      .filter(([, { value }]) => value !== undefined)
      .map(([name, option]) => `        ${name}) ${reply(option, commands)}; return ;;`),
    '      esac',
    `      case $current in -*) _trunkline_words ${quoted(names)}; return ;; esac`,
    '      case $position in',
    ...Object.values(command.arguments).map(
      (argument, position) => `        ${position}) ${reply(argument, commands)} ;;`,
    ),
    '      esac ;;',
  ].join('\n')
}

/** Returns the bash command that completes a value. */
const reply = (value: CompletedValue, commands: readonly Command[]): string => {
  const words = wordsOf(value, commands)
  if (words.length > 0) return `_trunkline_words ${quoted(words.join(' '))}`
  if (value.completes === 'file') return '_trunkline_paths -f'
  return value.completes === 'folder' ? '_trunkline_paths -d' : ':'
}
