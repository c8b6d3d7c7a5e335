import { examineInstallation, type Finding } from "@stepwell/server";
import { print, printJson } from "./terminal.ts";

/** Prints the findings; the process ends with 1 when one of them is a problem. */
export async function doctor(options: { readonly json?: boolean }): Promise<void> {
  const findings = await examineInstallation(process.env);
  const countOf = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const [problemCount, warningCount] = [countOf("problem"), countOf("warning")];
  if (options.json === true) printJson({ isHealthy: problemCount === 0, findings });
  else {
    for (const { check, level, detail } of findings) print(`${words[level].padEnd(9)}${check.padEnd(16)}${detail}`);
    print(`${problemCount === 0 ? "No problem" : `Problems: ${problemCount}`}; warnings: ${warningCount}.`);
  }
  if (problemCount > 0) process.exitCode = 1;
}

const words: Readonly<Record<Finding["level"], string>> = { ok: "ok", warning: "WARNING", problem: "PROBLEM" };
