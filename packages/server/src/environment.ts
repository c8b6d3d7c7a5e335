import { settings } from "./config.ts";
import { didYouMean } from "./core/closest-name.ts";

/**
 * Returns a sentence for each variable that begins with `STEPWELL_` but is not a setting, because a mistyped variable would otherwise be ignored
 * silently. Also returns one for each variable that has been renamed.
 */
export function describeUnknownVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = [
    ...Object.values(settings).flatMap(({ variable, fileVariable }) => [variable, fileVariable ?? variable]),
    ...commandLineVariables,
  ];
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith(prefix) && !known.includes(name) && !isServiceLink(name, value ?? ""))
    .map(([name]) => {
      const renamed = Object.values(settings).find(({ formerVariable }) => formerVariable === name);
      if (renamed !== undefined) return describeFormerName(name, renamed.variable, environment);
      return `The variable ${name} is set, but Stepwell knows no such setting${suggestion(name, known)}`;
    });
}

function describeFormerName(
  name: string,
  variable: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return environment[variable]
    ? `The variable ${name} is now named ${variable}. Both are set, so ${name} is ignored. Please remove ${name}.`
    : `The variable ${name} is now named ${variable}. The old name still works for now; please rename the variable.`;
}

const prefix = "STEPWELL_";

/** The service does not read these variables. Commands of the command line read them, and may run in the same environment as the service. */
const commandLineVariables = [
  "STEPWELL_URL",
  "STEPWELL_TOKEN",
  "STEPWELL_ORGANIZATION",
  "STEPWELL_PROFILE",
  "STEPWELL_CREDENTIALS_FILE",
];

const fileEnding = "_FILE";

function suggestion(name: string, known: readonly string[]): string {
  // Only secrets may come from a file. When `_FILE` is added to the name of another setting, the name is not misspelled, so no similar name is
  // suggested.
  if (name.endsWith(fileEnding) && known.includes(name.slice(0, -fileEnding.length))) return ".";
  const withoutPrefix = name.slice(prefix.length);
  if (known.includes(withoutPrefix)) return `; did you mean \`${withoutPrefix}\`?`;
  return didYouMean(name, known) || ".";
}

/** Whether Kubernetes made the variable: it puts some into each container for every Service whose name is `stepwell` or begins with `stepwell-`. */
function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name))
    return true;
  return name.endsWith("_PORT") && /^(tcp|udp|sctp):\/\//.test(value);
}
