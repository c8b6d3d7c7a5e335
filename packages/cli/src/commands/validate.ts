import { checkDefinition, readConfig } from "@stepwell/server";
import { CommandError } from "../exit-code.ts";
import { readText } from "../input-file.ts";
import { describeFinding, type Finding, invalidDefinition, tooManyWarnings } from "../output/definition-findings.ts";
import { show, showValue, warn } from "../output/terminal.ts";

/** Checks definitions in this process, with the settings of this environment and without a service. */
export function validate(files: readonly string[], { strict = false }: { readonly strict?: boolean }): void {
  const checked = files.map(checkFile);
  for (const { file, text, warnings } of checked) {
    for (const warning of warnings) warn(describeFinding(file, text, "warning", warning));
  }
  const value = checked.map(({ file, errors, warnings }) => ({
    file,
    isValid: errors.length === 0,
    errors,
    warnings,
  }));
  const faults = checked.flatMap((one) => faultOf(one, strict));
  const all = files.length === 1 ? "The definition is valid." : `All ${files.length} definitions are valid.`;
  if (faults.length === 0) show({ value, text: all });
  else {
    showValue(value);
    throw new CommandError("failed", faults.join("\n"));
  }
}

interface Checked {
  readonly file: string;
  readonly text: string;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

function checkFile(file: string): Checked {
  const text = readText(file);
  const { problems, warnings } = checkDefinition(readConfig(process.env), text);
  return { file, text, errors: problems, warnings };
}

function faultOf({ file, text, errors, warnings }: Checked, strict: boolean): string[] {
  if (errors.length > 0) return [invalidDefinition(file, text, errors).message];
  return strict && warnings.length > 0 ? [tooManyWarnings(file, warnings.length)] : [];
}
