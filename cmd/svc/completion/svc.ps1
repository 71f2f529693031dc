# Completes the words of svc in PowerShell.
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    $next = if ($wordToComplete -eq '') { @('--next') } else { @() }
    svc complete @next '--' @words 2>$null | ForEach-Object {
        $word, $means = $_ -split "`t", 2
        if (-not $means) { $means = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $means)
    }
}
